"""`find_gold`: each task's right answer, in the words that the task's own rewards pay best.

The gold is a field of the row, by name or by convention, or a reply that solved the task
before. Which of its spellings an environment wants is found by scoring them. A field may hold
the answer in its form (`TOTAL: 12.50`) or at the end of a worked solution: the gold is the
answer alone.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from envwright.environment import Environment, Task
from envwright.probe.case import Case, Sample
from envwright.probe.forms import NO_READERS, Readers
from envwright.probe.scoring import Scorer, Told, Try
from envwright.record import Json, items, mapping
from envwright_host.gold import FIELDS, NoGoldError, dig, gold_of, spell, wordings

ENOUGH = 1e-6
NO_REPLIES: Mapping[int, str] = {}
BEFORE = re.compile(
    r"\s*(?:[A-Za-z][\w' ]{0,40}[:=]\s*|[A-Z][\w' ]{0,60} is:?\s+|\\boxed\{|<[\w-]+>\s*|#{2,}\s*"
    r"|\[\[|\*\*)+"
)
"""What an answer's form begins with, where all golds begin with the same."""
BEHIND = re.compile(r"(?:\}|</[\w-]+>|\]\]|\*\*|[.\s])*")
LONGEST_FORM = 100
CLOSING = (
    re.compile(r"####[ \t]*([^\n#]+?)\s*$"),
    re.compile(r"<answer>\s*([^<>]+?)\s*</answer>\s*$"),
    re.compile(r"\\boxed\{([^{}]+)\}[^{}\n]{0,3}\s*$"),
)
"""How a worked solution ends in its answer."""


async def find_gold(
    scorer: Scorer | None,
    environment: Environment,
    tasks: Sequence[Task],
    *,
    field: str | None = None,
    solved: Mapping[int, str] = NO_REPLIES,
    readers: Readers = NO_READERS,
) -> Sample:
    """The tasks as cases; `solved` are replies that solved a task before, by its index.

    Without a scorer the likeliest wording stands, and what it earns is not known.
    """
    fields = {task.index: field_of(task.row, field) for task in tasks}
    form = form_of([gold_in(task, fields[task.index]) for task in tasks])
    said = {task.index: says(task, fields[task.index], solved, form, readers) for task in tasks}
    most = sum(reward.weight for reward in environment.rewards if reward.weight > 0)
    best: dict[int, tuple[float, str, str]] = {}
    for turn in range(0 if scorer is None else max(map(len, said.values()), default=0)):
        assert scorer is not None
        # One wording a round, and only where the last ones did not earn all there is.
        tries = [
            Try(index, wording)
            for index, golds in said.items()
            for _, wording in golds[turn : turn + 1]
            if most <= 0 or index not in best or best[index][0] < most - ENOUGH
        ]
        keep_better(
            best, await scorer.score(tries), {i: g[turn] for i, g in said.items() if g[turn:]}
        )
    cases = tuple(case_of(task, said[task.index], best.get(task.index)) for task in tasks)
    return Sample(
        environment=environment,
        cases=cases,
        total=environment.tasks.count,
        gold_from=origin(cases, fields, solved),
        gold_field=field,
        form=form,
    )


def keep_better(
    best: dict[int, tuple[float, str, str]], told: Told, said: Mapping[int, tuple[str, str]]
) -> None:
    for each, tried in told.items():
        if tried.reward is None:
            continue
        if each.index not in best or tried.reward > best[each.index][0]:
            best[each.index] = (tried.reward, *said[each.index])


def case_of(
    task: Task, golds: Sequence[tuple[str, str]], best: tuple[float, str, str] | None
) -> Case:
    if best is not None:
        earned, gold, wording = best
        return Case(task, gold=gold, said=wording, best=earned)
    gold, wording = golds[0] if golds else (None, None)
    return Case(task, gold=gold, said=wording)


def says(
    task: Task,
    field: str | None,
    solved: Mapping[int, str],
    form: tuple[str, str] = ("", ""),
    readers: Readers = NO_READERS,
) -> list[tuple[str, str]]:
    """Every gold and wording worth trying, likely ones first."""
    request = request_of(task)
    written = [] if field is None else spellings(dig(task.row, field))
    golds = [bare(gold, form) for gold in written]
    found: list[tuple[str, str]] = []
    for gold, raw in zip(golds, written, strict=True):
        spoken = [(gold, wording) for wording in wordings(gold, request)]
        # A form is said as it is written; who ends a solution in the answer may say that alone.
        first = [(gold, raw)] if gold != raw and "\n" not in raw else []
        spoken += [(gold, wording) for wording in readers.wordings(gold, request)]
        found += [*first, *spoken, (gold, raw)]
    if (reply := solved.get(task.index)) is not None:
        found.append((golds[0] if golds else reply, reply))
    unique: dict[str, tuple[str, str]] = {}
    for gold, wording in found:
        unique.setdefault(wording, (gold, wording))
    return list(unique.values())


def field_of(row: Json, field: str | None) -> str | None:
    """The field that holds the gold, also one level down; None when there is none."""
    names = (field,) if field else FIELDS
    nested = [
        f"{outer}.{name}"
        for outer, inner in row.items()
        if isinstance(inner, dict)
        for name in names
        if name in inner
    ]
    for name in (*names, *nested):
        try:
            gold_of(row, name)
        except NoGoldError:
            continue
        return name
    return None


def gold_in(task: Task, field: str | None) -> str:
    """The gold of a row, as it is written there; empty when it has none."""
    return spellings(dig(task.row, field))[0] if field else ""


def form_of(golds: Sequence[str]) -> tuple[str, str]:
    """What stands before and behind the answer in every gold: the form it is to be said in."""
    known = list(dict.fromkeys(gold for gold in golds if gold.strip()))
    if len(known) < 2 or any(gold.lstrip()[:1] in "{[" for gold in known):
        return "", ""
    begun = BEFORE.match(shared_start(known))
    if begun is None:
        return "", ""
    before = begun.group()
    rests = [gold[len(before) :] for gold in known]
    ended = shared_start([rest[::-1] for rest in rests])[::-1]
    behind = next(ended[at:] for at in range(len(ended) + 1) if BEHIND.fullmatch(ended[at:]))
    if not all(rest.removesuffix(behind).strip() for rest in rests):
        return "", ""
    return before, behind


def shared_start(texts: Sequence[str]) -> str:
    first, last = min(texts)[:LONGEST_FORM], max(texts)
    end = next((at for at, sign in enumerate(first) if last[at : at + 1] != sign), len(first))
    return first[:end]


def bare(gold: str, form: tuple[str, str]) -> str:
    """The answer without its form, or at the end of a worked solution; else the gold itself."""
    before, behind = form
    if before and gold.startswith(before) and gold.endswith(behind):
        return gold[len(before) : len(gold) - len(behind)].strip()
    closing = [found for end in CLOSING if "\n" in gold.strip() and (found := end.search(gold))]
    return closing[0].group(1).strip() if closing else gold


def spellings(value: Any) -> list[str]:
    """A list is one of several answers, or all of them together."""
    if isinstance(value, list) and value:
        each = [spell(one) for one in cast("list[Any]", value)]
        together = [json.dumps(value), ", ".join(each), "\n".join(each), " ".join(each)]
        return list(dict.fromkeys([each[0], *together])) if len(each) > 1 else each
    if isinstance(value, dict):
        return [json.dumps(value)]
    return [spell(value)]


def request_of(task: Task) -> str:
    """All that the agent is told at first."""
    parts = [str(task.row.get("system_prompt") or "")]
    messages = map(mapping, items(task.row.get("prompt")))
    parts += [str(each.get("content")) for each in messages if each.get("role") == "system"]
    return "\n".join([*parts, task.prompt])


def origin(
    cases: Sequence[Case], fields: Mapping[int, str | None], solved: Mapping[int, str]
) -> str | None:
    """Where the gold is from, in words."""
    named = Counter(field for field in fields.values() if field is not None)
    if named:
        field, count = named.most_common(1)[0]
        return f"the field {field!r}, which {count} of {len(fields)} sampled tasks have"
    count = sum(case.gold is not None for case in cases)
    return f"replies that solved {count} tasks before" if count and solved else None
