"""EW404 hangs: replies that take seconds, for ever, or ever longer the longer they are.

Time is that of the processor where it worked at all: a busy machine is not the reward's
fault. Of an episode it is its scoring alone.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise

from envwright.finding import Finding, Severity
from envwright.probe.behaviour.oddity import GROWING, SIZES, growing
from envwright.probe.case import Case, Sample
from envwright.probe.evidence import finding, quoted, shown
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Tried, Try

HANGS = Rule(
    id="EW404",
    name="hangs",
    defect="hangs",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="every reply of every probe, and long runs of what regular expressions stumble over, "
    "those in its source among them",
    hit="scoring does not end in time, takes seconds, or its time grows faster than the reply",
    why="training stands still while one rollout is scored",
    exempt="rewards that run programs may take a minute",
)
SLOW_SECONDS = 2.0
SLOW_WITH_PROGRAMS_SECONDS = 10.0
SLOW_STAGED_SECONDS = 60.0
"""A program that does not end is ended by the environment, after a time of its own."""
NOTICED_SECONDS = 0.05
"""Below this a measurement says nothing of how it grows."""
FASTER = 3.0
"""Twice the reply takes at least so many times as long: a square takes four times."""
WORKS = 0.1
"""Of its time on a processor, though many others want one too."""
LONG_REPLY = 40_000
"""Characters: some ten thousand tokens."""
MOST_FINDINGS = 3


class Hangs:
    """Its tries are made one family at a time, until it is clear: see `families`."""

    rules = (HANGS,)

    def __init__(self, *, programs: bool = False) -> None:
        self.programs = programs
        """Whether its code starts some itself."""

    def families(self, sample: Sample, suspected: Sequence[str] = ()) -> Iterator[list[Try]]:
        """Tries that belong together; after one that hangs the rest adds nothing.

        `suspected` are replies that its source makes one expect it of.
        """
        for case in sample.cases[:1]:
            formed = [formed_in(case, text) for text in suspected]
            yield [Try(case.task.index, text) for text in (*suspected, *formed) if text is not None]
            for _, unit, end in GROWING:
                yield [Try(case.task.index, text) for text in texts_of(unit, end)]
                if formed := [formed_in(case, text) for text in texts_of(unit, end)]:
                    yield [Try(case.task.index, text) for text in formed if text is not None]

    def tries(self, sample: Sample) -> Sequence[Try]:
        return ()

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = {case.task.index: case for case in sample.cases}
        limit = SLOW_WITH_PROGRAMS_SECONDS if self.programs else SLOW_SECONDS
        limit = SLOW_STAGED_SECONDS if sample.environment.staged else limit
        slow = [*late(told), *lasting(limit, told)][:MOST_FINDINGS]
        found: list[Finding] = [
            finding(
                HANGS,
                sample,
                cases[each.index],
                each.reply,
                statement=f"scoring {quoted(each.reply, 60)} {what}",
                quote=shown(quote, 300),
            )
            for each, what, quote in slow
        ]
        if not found:
            found = [*growths(sample, told), *always(sample, told, cases, limit)][:1]
        return [
            Report(
                rule=HANGS.id,
                tried=len(told),
                of=None,
                unit="replies",
                findings=tuple(map(timed, found)),
            )
        ]


def timed(found: Finding) -> Finding:
    return found.model_copy(update={"reproduce": f"time {found.reproduce}"})


def texts_of(unit: str, end: str) -> list[str]:
    return [growing(unit, end, size) for size in SIZES]


def formed_in(case: Case, text: str) -> str | None:
    """The text in the place of the gold, where the gold has one."""
    if not case.gold or not case.said or case.gold not in case.said or case.said == case.gold:
        return None
    return case.said.replace(case.gold, text)


def late(told: Told) -> Iterator[tuple[Try, str, str]]:
    """Each reply once, however many tasks it was tried on."""
    seen: set[str] = set()
    for each, tried in told.items():
        if tried.late and tried.ended is not None and each.reply not in seen:
            seen.add(each.reply)
            yield each, f"does not end: {shown(tried.ended, 300)}", tried.ended


def lasting(least: float, told: Told) -> Iterator[tuple[Try, str, str]]:
    usual = statistics.median([time_of(tried) for tried in told.values()] or [0.0])
    limit = max(least, 5 * usual)
    seen: set[str] = set()
    for each, tried in told.items():
        if time_of(tried) > limit and each.reply not in seen:
            seen.add(each.reply)
            taken = f"{time_of(tried):.1f} s"
            yield each, f"takes {taken}, where most replies take {usual:.2g} s", taken


def always(sample: Sample, told: Told, cases: dict[int, Case], limit: float) -> Iterator[Finding]:
    """A reward that is slow on whatever is said."""
    times = [time_of(tried) for tried in told.values() if tried.reward is not None]
    if not times or (usual := statistics.median(times)) < limit / 2:
        return
    each, tried = max(told.items(), key=lambda one: time_of(one[1]))
    yield finding(
        HANGS,
        sample,
        cases[each.index],
        each.reply,
        statement=f"scoring any reply takes {usual:.1f} s (the median of {len(times)})",
        quote=f"{time_of(tried):.1f} s",
    )


def growths(sample: Sample, told: Told) -> Iterator[Finding]:
    for case in sample.cases[:1]:
        for words, unit, end in GROWING:
            for texts in (texts_of(unit, end), [formed_in(case, t) for t in texts_of(unit, end)]):
                tried = [told.get(Try(case.task.index, text)) for text in texts if text is not None]
                times = [time_of(each) for each in tried if each is not None]
                if len(times) == len(SIZES) and is_steep(times):
                    yield grown(sample, case, words, texts[-1] or "", times)


def is_steep(times: Sequence[float]) -> bool:
    steps = [after / max(before, 1e-9) for before, after in pairwise(times)]
    return times[-1] >= NOTICED_SECONDS and min(steps) >= FASTER


def grown(sample: Sample, case: Case, words: str, reply: str, times: Sequence[float]) -> Finding:
    told = ", ".join(f"{t:.2g} s for {n}" for t, n in zip(times, SIZES, strict=True))
    return finding(
        HANGS,
        sample,
        case,
        reply,
        statement=f"scoring takes ever longer the longer the reply is ({words}): {told} characters",
        quote=f"{times[-1]:.2g} s",
        severity=Severity.WARN if projected(times) >= SLOW_SECONDS else Severity.INFO,
    )


def projected(times: Sequence[float]) -> float:
    """What a long reply would take, if it goes on as it began."""
    doublings = math.log2(LONG_REPLY / SIZES[-1])
    return times[-1] * (times[-1] / max(times[-2], 1e-9)) ** doublings


def time_of(tried: Tried) -> float:
    """A reward that hardly works while it takes its time waits, and that is its own time."""
    return tried.cpu_seconds if tried.cpu_seconds >= WORKS * tried.seconds else tried.seconds
