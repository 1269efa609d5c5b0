"""How a scored reply is told: its finding, its citation, and the command that shows it again.

Replies and what code says of them are foreign text: they are shown escaped and short.
"""

import json
import shlex
from collections.abc import Sequence

from envwright.finding import Basis, Finding, ReplyCitation, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.rule import Rule
from envwright.probe.scoring import Tried, Try
from envwright.record import Json

SHOWN = 100
ON_A_LINE = 300
"""Longer replies are made by a program in the command that shows them again."""
CUT, CUT_GOLD = 300, 100
TOTAL = "reward"


def shown(text: str, most: int = SHOWN) -> str:
    """The text on one line, escaped; its beginning when it is long."""
    escaped = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return escaped if len(escaped) <= most else f"{escaped[:most]}… ({len(text)} characters)"


def quoted(text: str, most: int = SHOWN) -> str:
    """The same between quotes, escaped once."""
    text = shown(text, most)
    mark = '"' if "'" in text and '"' not in text else "'"
    return f"{mark}{text}{mark}"


def cited(case: Case, reply: str, quote: str, signal: str = TOTAL) -> ReplyCitation:
    return ReplyCitation(
        key=case.task.key,
        signal=signal,
        quote=quote,
        reply=shown(reply, CUT),
        gold=None if case.gold is None else shown(case.gold, CUT_GOLD),
    )


def reproduce(sample: Sample, index: int, reply: str) -> str:
    """A command that scores the same reply again, in an episode where only that tells."""
    if sample.is_played:
        return replay(sample, index, [{"content": reply}])
    name = sample.name or shlex.quote(sample.environment.name)
    score = f"envwright env score {name} --task {index}"
    if reply.isprintable() and len(reply) <= ON_A_LINE:
        return f"{score} --reply {shlex.quote(reply)}"
    program = f"import sys; sys.stdout.write({compact(reply)})"
    return f"python3 -c {shlex.quote(program)} | {score} --reply -"


LATEST = """python3 -c 'import json; print(json.loads(input())["id"])'"""
SCRIPT = "replies.json"


def replay(sample: Sample, index: int, replies: Sequence[Json], times: int = 1) -> str:
    """A command that plays a script again, `times` over, and shows what was said."""
    name = sample.name or shlex.quote(sample.environment.name)
    script = json.dumps(list(replies))
    if times > 1:
        program = f"import json; print(json.dumps(json.loads({script!a}) * {times}))"
        write = f"python3 -c {shlex.quote(program)}"
    else:
        write = f"printf %s {shlex.quote(script)}"
    play = f"envwright run {name} --task {index} --agent scripted:{SCRIPT}"
    show = f'envwright trial show "$(envwright trial list --json -n 1 | {LATEST})"'
    return f"{write} > {SCRIPT} && {play} && {show}"


def again_and_again(sample: Sample, each: Try) -> str:
    """A command that scores the same reply four times in one process."""
    return in_one_process(sample, f"[{row_of(each)}] * 4")


def after_others(sample: Sample, each: Try, others: Sequence[Try]) -> str:
    """Commands that score a reply by itself, and behind others in one process."""
    rows = ", ".join(map(row_of, (*others, each)))
    alone = reproduce(sample, each.index, each.reply)
    return f"{alone}; {in_one_process(sample, f'[{rows}]')}"


def row_of(each: Try) -> str:
    """A row of replies to be scored, as a Python expression."""
    return f"json.dumps({{'task': '{each.index}', 'reply': {compact(each.reply)}}})"


def in_one_process(sample: Sample, rows: str) -> str:
    name = sample.name or shlex.quote(sample.environment.name)
    program = f"import json; print('\\n'.join({rows}))"
    return (
        f"python3 -c {shlex.quote(program)} > replies.jsonl && "
        f"envwright env score {name} --replies replies.jsonl"
    )


def compact(text: str) -> str:
    """A Python expression for the text: one that repeats itself is written once."""
    if len(text) > ON_A_LINE:
        for length in range(1, 65):
            unit, count = text[:length], 0
            while text.startswith(unit, count * length):
                count += 1
            rest = text[length * count :]
            if count > 3 and len(rest) <= ON_A_LINE:
                return f"{unit!r} * {count}" + (f" + {rest!r}" if rest else "")
    return ascii(text)


def value_of(tried: Tried) -> str:
    """What became of it, as a citation quotes it."""
    if tried.ended is not None:
        return shown(tried.ended, 300)
    if tried.problem is not None:
        return shown(tried.problem, 300)
    return "no reward" if tried.reward is None else f"{tried.reward:g}"


def finding(  # noqa: PLR0913 - the parts of one record
    rule: Rule,
    sample: Sample,
    case: Case,
    reply: str,
    *,
    statement: str,
    quote: str,
    signal: str = TOTAL,
    severity: Severity | None = None,
) -> Finding:
    return Finding(
        rule=rule.id,
        severity=severity or rule.severity,
        basis=Basis.PROVEN,
        statement=statement,
        citations=(cited(case, reply, quote, signal),),
        reproduce=reproduce(sample, case.task.index, reply),
    )
