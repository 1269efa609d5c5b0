"""`run_probes`: everything that is tried on an environment without a model, in one go.

    async with open_bench(loaded, tasks, gateway, judge=judge) as bench:
        sample = await bench.sample(gold_field=…, solved=…)
        probed = await run_probes(bench, sample, probes)

What all reply probes want is scored once, task by task, so that a scorer that runs out of
time has finished some tasks rather than begun all. One further process is started; a third
one only where scores differ, others only where a reply ended one. Nothing that environment
code does makes it fail or hang.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from envwright.errors import EnvwrightError
from envwright.host import CallError, HostDied, Loaded
from envwright.probe.behaviour.hangs import Hangs
from envwright.probe.behaviour.output import Output
from envwright.probe.behaviour.parts import NO_CODE, Parts
from envwright.probe.behaviour.raises import Raises
from envwright.probe.behaviour.range import Declared, Range
from envwright.probe.behaviour.reach import reads_the_reply_alone, starts_programs
from envwright.probe.behaviour.repeats import (
    NOT_DETERMINISTIC,
    REMEMBERS,
    Pass,
    Repeated,
    read_repeats,
    repeat,
    worth_repeating,
)
from envwright.probe.bench import Bench
from envwright.probe.case import Sample
from envwright.probe.code import Code
from envwright.probe.documents import documents_of
from envwright.probe.episode.look import EPISODE_RULES, look_at_episodes
from envwright.probe.judge.look import JUDGE_RULES, look_at_judge
from envwright.probe.probe import ReplyProbe
from envwright.probe.rule import Extent, Report, Rule
from envwright.probe.scoring import Scorer, Told, Tried, Try

SEEDS = (1, 2)
"""Of Python's hashes, in the fresh processes."""
CULPRITS_BORNE = 2
"""Then it is clear that it does not survive odd replies."""
FEW = 0.3
"""A probe of which less was tried is not finished."""

IDLE = (Extent.NOT_APPLICABLE, Extent.NO_GOLD)

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Probed:
    reports: tuple[Report, ...]
    told: Told
    """All that was scored."""
    scored: int
    """Of the reply probes, crash fuzzing apart."""
    seconds: float
    """That took."""


def behaviour_probes(documents: str, code: Code = NO_CODE) -> list[ReplyProbe]:
    """The EW4 probes that read scored replies; `documents` is README and docstrings."""
    return [Range(Declared(documents)), Parts(documents, code), Output()]


def behaviour_rules() -> tuple[Rule, ...]:
    """Every rule of EW4 and EW6 but those on judges, which are looked for apart."""
    probes = [*behaviour_probes(""), Raises(), Hangs()]
    own = tuple(rule for probe in probes for rule in probe.rules)
    return (*own, NOT_DETERMINISTIC, REMEMBERS, *EPISODE_RULES)


RULES = (*behaviour_rules(), *JUDGE_RULES)
"""All that is looked for here, whatever probes are given."""


async def run_probes(
    bench: Bench,
    sample: Sample,
    probes: Sequence[ReplyProbe],
    notice: Notice = lambda said: None,
    suspected: Sequence[str] = (),
    code: Code = NO_CODE,
) -> Probed:
    """A report for every rule of the probes, of EW4 and of EW6.

    `suspected` are replies that its source makes one expect to hang; `code` is that source.
    """
    rules = [*(rule for probe in probes for rule in probe.rules), *behaviour_rules()]
    judged = await look_at_judge(bench.loaded, sample, bench.gateway, bench.stage.patience)
    if (why := bench.unscorable or (None if sample.cases else "it has no task to try")) is not None:
        return Probed((*unfinished(rules, why), *judged), {}, 0, 0.0)
    alone = (each.name for each in sample.environment.rewards)
    alone = frozenset(name for name in alone if reads_the_reply_alone(code, name))
    sample = replace(sample, alone=alone)
    documents = documents_of(bench.loaded.source.folder)
    readers = [*probes, *behaviour_probes(documents, code)]
    wanted = {id(probe): list(probe.tries(sample)) for probe in readers}
    begun = time.monotonic()
    golds = [Try(case.task.index, case.said) for case in sample.cases if case.said is not None]
    told = dict(await bench.scorer.score(by_task(sample, [golds, *wanted.values()])))
    scored, seconds = len(told), time.monotonic() - begun
    notice(f"scored {scored} replies in {seconds:.1f} s")
    notice("scoring some of them again, in this process and in fresh ones")
    repeated = await repeats(bench, sample, told)
    notice("trying odd, long and growing replies")
    odd = await crash(bench.scorer, sample, suspected)
    told |= {**odd, **bench.stage.toll.culprits}
    stopped = bench.scorer.stopped
    reports = [
        with_gap(report, wanted[id(probe)], told, stopped)
        for probe in readers
        for report in probe.read(sample, told)
    ]
    reports += [
        cut_short(report, stopped) if stopped is not None else report
        for probe in (Raises(), Hangs(programs=starts_programs(code)))
        for report in probe.read(sample, told)
    ]
    reports += read_repeats(sample, repeated)
    if (why := bench.stage.toll.too_much(bench.stage.patience)) is not None:
        reports += unfinished(EPISODE_RULES, why)
    else:
        if sample.environment.episodic or sample.environment.tools:
            notice("playing episodes")
        reports += await look_at_episodes(bench, sample, documents)
    if (spoiled := bench.spoiled) is not None:
        return Probed((*unfinished(rules, spoiled), *judged), told, scored, seconds)
    return Probed((*reports, *judged), told, scored, seconds)


def by_task(sample: Sample, wanted: Iterable[Sequence[Try]]) -> list[Try]:
    """The tries of all probes, those of the first task first."""
    place = {case.task.index: at for at, case in enumerate(sample.cases)}
    tries = dict.fromkeys(each for some in wanted for each in some)
    return sorted(tries, key=lambda each: place[each.index])


async def crash(scorer: Scorer, sample: Sample, suspected: Sequence[str] = ()) -> Told:
    """Odd, suspected and growing replies, until it is clear that they are not survived."""
    told: dict[Try, Tried] = {}

    async def survived(tries: Sequence[Try]) -> bool:
        told.update(await scorer.score(tries))
        return sum(tried.ended is not None for tried in told.values()) < CULPRITS_BORNE

    by_reply: dict[str, list[Try]] = {}
    for each in Raises().tries(sample):
        by_reply.setdefault(each.reply, []).append(each)
    for tries in by_reply.values():
        if not await survived(tries[:1]) or not await survived(tries):
            return told
    for family in Hangs().families(sample, suspected):
        # The longest last, and none after one that does not end.
        for each in family:
            if not await survived([each]):
                return told
            if each in told and told[each].ended is not None:
                break
    return told


async def repeats(bench: Bench, sample: Sample, told: Told) -> Repeated:
    tries = worth_repeating(sample, told)
    first: list[Pass] = [[told[each] for each in tries]]
    if (why := bench.scorer.stopped) is not None:
        return Repeated(tries, tuple(first), why_not=why)
    first.append(await bench.scorer.again(tries))
    first.append((await bench.scorer.again(tries[::-1]))[::-1])
    repeated = Repeated(tries, tuple(first))
    if bench.environment.judges or not tries:
        return repeated
    async with AsyncExitStack() as stack:
        try:
            loaded, scorer = await stack.enter_async_context(bench.afresh(SEEDS[0]))
            if (why := await other_tasks(loaded, sample)) is not None:
                return replace(repeated, why_not=why)
            repeated = replace(repeated, afresh=await repeat(scorer, tries))
        except (EnvwrightError, HostDied, CallError, OSError, TimeoutError) as error:
            return replace(repeated, why_not=f"a fresh process did not start: {error}")
        if not [*repeated.differing(repeated.at_first, repeated.afresh)]:
            return repeated
        reseeded = not [*repeated.differing(repeated.afresh)]
        _, third = await stack.enter_async_context(bench.afresh(SEEDS[reseeded]))
        return replace(repeated, replayed=await repeat(third, tries), reseeded=reseeded)


async def other_tasks(loaded: Loaded, sample: Sample) -> str | None:
    """Whether a fresh process has other tasks, in words: then scores do not compare."""
    indexes = [case.task.index for case in sample.cases]
    fresh = {task.index: task.key for task in await loaded.tasks(min(indexes), max(indexes) + 1)}
    changed = sum(fresh.get(case.task.index) != case.task.key for case in sample.cases)
    if not changed:
        return None
    return f"{changed} of {len(indexes)} tasks are other ones in a fresh process"


def unfinished(rules: Sequence[Rule], why: str) -> tuple[Report, ...]:
    return tuple(
        Report(rule=rule.id, extent=Extent.UNFINISHED, reason=why) for rule in dict.fromkeys(rules)
    )


def is_mute(wanted: Sequence[Try], told: Told) -> bool:
    """Whether not one of them has a reward."""
    return all(each not in told or told[each].reward is None for each in wanted)


def cut_short(report: Report, stopped: str) -> Report:
    """What was found before is found; what was not, is not known."""
    extent = report.extent if report.findings else Extent.UNFINISHED
    return report.model_copy(update={"extent": extent, "reason": stopped})


def with_gap(
    report: Report, wanted: Sequence[Try], told: dict[Try, Tried], stopped: str | None
) -> Report:
    """The report, and what of its tries was not tried."""
    missing = sum(each not in told for each in wanted)
    # Where no reply has a reward, not even the gold's, a probe has nothing to ask for.
    asked = wanted or [*told]
    if asked and report.extent in IDLE and is_mute(asked, told):
        why = stopped or f"none of {len(asked)} replies was scored"
        return report.model_copy(update={"extent": Extent.UNFINISHED, "reason": why})
    if report.extent is not Extent.RAN or not missing:
        return report
    done = len(wanted) - missing
    reason = f"{done} of {len(wanted)} replies were tried: {stopped or 'the others were barred'}"
    few = done < FEW * len(wanted) and not report.findings
    return report.model_copy(
        update={
            "extent": Extent.UNFINISHED if few else Extent.RAN,
            "reason": f"{report.reason}; {reason}" if report.reason else reason,
        }
    )
