"""The few episodes that the EW6 rules need, played once for all of them."""

import re
from collections.abc import Sequence

from envwright.finding import Finding
from envwright.probe.bench import Bench
from envwright.probe.case import Case, Sample
from envwright.probe.data.text import leaves
from envwright.probe.episode.caller import Caller
from envwright.probe.episode.ends import NO_END, endless
from envwright.probe.episode.record import has_word
from envwright.probe.episode.tool import (
    PLAIN,
    Again,
    Called,
    Tool,
    call_of,
    ordinary_calls,
    tools_of,
    value_for,
)
from envwright.probe.episode.tools import BREAKS, ESCAPES, breaks, escapes, wily_calls
from envwright.probe.episode.unneeded import UNNEEDED, read_unneeded
from envwright.probe.episode.view import (
    IN_VIEW,
    in_answers,
    in_descriptions,
    in_examples,
    in_records,
    in_turns,
)
from envwright.probe.evidence import replay
from envwright.probe.gold import field_of
from envwright.probe.package.package import read_package
from envwright.probe.play import Played, reply_of
from envwright.probe.rule import Extent, Report
from envwright.probe.source.reckons import ignored_tool, only_reckon
from envwright.record import Json

EPISODE_RULES = (BREAKS, ESCAPES, UNNEEDED, NO_END, IN_VIEW)
CASES = 2
GO_ON = "Please go on."
WORDS = 4
"""Of a question, as arguments."""
MOST_FINDINGS = 3
WORD = re.compile(
    r"\"([^\"]+)\"|'([^']+)'|`([^`]+)`|(?<![\w-])([A-Za-z]*\d[\w]*(?:[-/:.]\w+)+"
    r"|[A-Za-z]+(?:[-_/#]\w*\d\w*)+(?:[-/]\w+)*|[A-Z]\w+(?: [A-Z]\w+)*|\d+)(?!\w)"
)
"""What a question quotes, its names, ids, dates and numbers."""
LONGEST_WORD = 40


async def look_at_episodes(bench: Bench, sample: Sample, documents: str) -> list[Report]:
    """A report for each of EPISODE_RULES."""
    environment = sample.environment
    found: dict[str, list[Finding]] = {rule.id: [] for rule in EPISODE_RULES}
    troubles: dict[str, str] = {}
    if environment.tools:
        await look_at_tools(bench, sample, found, troubles)
    if environment.episodic:
        await look_at_turns(bench, sample, found, troubles)
    code = read_package(bench.loaded.source).code if environment.tools else None
    reckon = code is not None and only_reckon(code, environment.tools)
    ignored = ignored_tool(code, environment.tools) if code is not None else None
    reports = [read_unneeded(sample, reckon=reckon, ignored=ignored)]
    for rule, needed, lack in (
        (BREAKS, bool(environment.tools), "it has no tools"),
        (ESCAPES, bool(environment.tools), "it has no tools"),
        (NO_END, environment.episodic, "its episodes have a single turn of talk"),
        (
            IN_VIEW,
            bool(environment.tools) or environment.episodic,
            "it has neither tools nor turns",
        ),
    ):
        trouble = troubles.get(rule.id, "")
        extent = Extent.UNFINISHED if trouble and not found[rule.id] else Extent.RAN
        if needed and rule is IN_VIEW and sample.gold_from is None:
            extent, trouble = Extent.NO_GOLD, "no gold to look for"
        reports.append(
            Report(
                rule=rule.id,
                extent=extent if needed else Extent.NOT_APPLICABLE,
                reason=trouble if needed else lack,
                tried=min(CASES, len(sample.cases)) if needed else 0,
                of=sample.total,
                findings=tuple(found[rule.id][:MOST_FINDINGS]),
            )
        )
    return reports


async def look_at_tools(
    bench: Bench, sample: Sample, found: dict[str, list[Finding]], troubles: dict[str, str]
) -> None:
    source = bench.loaded.source
    records: list[list[Finding]] = []
    for case in sample.cases[:CASES]:
        seen = await bench.stage.play(case.task, [reply_of("Let me see.")])
        tools = tools_of(seen)
        if not tools:
            why = seen.ended or seen.problem or "no tool was offered to the agent"
            if any(found.values()):
                # One that hangs may be what all of them share.
                return
            troubles |= dict.fromkeys((BREAKS.id, ESCAPES.id, IN_VIEW.id), last_line(why))
            return
        ordinary = [call_of(t.name, given) for t in tools for given in ordinary_calls(t)]
        asking = [call_of(t.name, given) for t in tools for given in asked_calls(t, case)]
        wily = [
            call_of(t.name, given) for t in tools for given in wily_calls(t, source, plain_call(t))
        ]
        # Where even talk alone has a problem, it is none of a tool's.
        caller = Caller(bench.stage, case, is_fair=seen.problem is None and seen.ended is None)
        plain, told = await caller.call(ordinary), await caller.call(asking)
        lured = await caller.call(wily)
        again = calling(sample, case)
        found[BREAKS.id] += breaks(case, plain, again)
        if caller.trouble:
            troubles |= dict.fromkeys((BREAKS.id, ESCAPES.id, IN_VIEW.id), caller.trouble)
        elif caller.fatal:
            troubles[ESCAPES.id] = f"not tried on tools that end the episode: {caller.fatal}"
        field = field_of(case.task.row, sample.gold_field)
        found[IN_VIEW.id] += in_answers(case, [*plain, *told], field, again)
        found[IN_VIEW.id] += in_descriptions(case, tools, field, again)
        records.append([*in_records(case, [*plain, *told], again)])
        found[ESCAPES.id] += escapes(case, lured, source, again)
        if found[BREAKS.id] or found[ESCAPES.id]:
            break
    if all(records) and not found[IN_VIEW.id]:
        # One record alone may hold the gold by chance.
        found[IN_VIEW.id] += [each for some in records for each in some[:1]]


async def look_at_turns(
    bench: Bench, sample: Sample, found: dict[str, list[Finding]], troubles: dict[str, str]
) -> None:
    cap = bench.loaded.limits.turns
    golds = [case.gold.strip() for case in sample.cases if case.gold]
    examples: dict[str, list[Finding]] = {}
    for case in apart(sample.cases):
        talk = [reply_of(GO_ON)]
        played = await bench.stage.play(case.task, talk, last_again=True)
        command = replay(sample, case.task.index, talk, cap)
        if played.came_to(cap):
            found[NO_END.id] = [endless(case, cap, command)]
        elif (trouble := trouble_of(played)) is not None:
            troubles[NO_END.id] = trouble
        field = field_of(case.task.row, sample.gold_field)
        again = showing(command)
        found[IN_VIEW.id] += in_turns(case, played, field, again)
        examples[case.gold or ""] = [*in_examples(case, played, golds, again)]
    if len(examples) > 1 and all(examples.values()):
        # One example alone may be the gold by chance.
        found[IN_VIEW.id] += [each for some in examples.values() for each in some]


def apart(cases: Sequence[Case]) -> list[Case]:
    """The first few, of different golds where there are such."""
    first = {case.gold: case for case in reversed(cases)}
    chosen = sorted(first.values(), key=cases.index)[:CASES]
    return [*chosen, *(case for case in cases if case not in chosen)][:CASES]


def trouble_of(played: Played) -> str | None:
    """Why it is not known whether the episode ends by itself."""
    if played.ended is not None:
        return last_line(played.ended)
    trace = played.measured
    if trace is not None and trace.stop == "agent_timeout":
        return "an episode did not end in time"
    return None


def plain_call(tool: Tool) -> Json:
    return {name: value_for(schema, PLAIN) for name, schema in tool.properties.items()}


def asked_calls(tool: Tool, case: Case) -> list[Json]:
    """Calls with words of the question, and with what names the task in its row."""
    said = asked_words(case)
    match tool.texts, tool.numbers:
        case [name], _:
            return [{**plain_call(tool), name: text} for text in said]
        case [], [name]:
            numbers = [int(text) for text in said if text.isdecimal() and len(text) < 19]
            return [{**plain_call(tool), name: number} for number in numbers]
        case [_, _, *_] as names, _:
            # As the question has them: what belongs together stands together, and in order.
            words = [text for text in said if has_word(text, case.task.prompt)]
            words.sort(key=case.task.prompt.find)
            runs = (words[at : at + len(names)] for at in range(len(words) - len(names) + 1))
            return [{**plain_call(tool), **dict(zip(names, run, strict=True))} for run in runs]
        case _:
            return []


def asked_words(case: Case) -> list[str]:
    """What a call may be about: names of the task, and words of its question and row."""
    row, prompt = case.task.row, case.task.prompt
    texts = [found.group(found.lastindex or 0) for found in WORD.finditer(prompt)]
    ids = [str(row[n]) for n in ("id", "task_id", "name") if n in row]
    values = [
        str(v) for _, v in leaves(row) if isinstance(v, str | int) and not isinstance(v, bool)
    ]
    shown = [
        v
        for v in values
        if len(v) <= LONGEST_WORD and v not in (case.gold, prompt) and has_word(v, prompt)
    ]
    # What names one thing has a digit in it more often than not: `Order A17` is called A17.
    texts += [part for text in texts for part in text.split() if has_digit(part)]
    texts = sorted(reversed(texts), key=lambda text: not has_digit(text))
    found = dict.fromkeys([*ids, str(case.task.index), *shown, *texts])
    return [text for text in found if len(text) <= LONGEST_WORD][: 2 * WORDS]


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def calling(sample: Sample, case: Case) -> Again:
    def command(call: Called) -> str:
        script = [reply_of(None, call_of(call.tool, call.arguments)), reply_of("done")]
        return replay(sample, case.task.index, script)

    return command


def showing(command: str) -> Again:
    """The same command, whatever was said."""
    return lambda _: command


def last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:300]
