"""EW408 dead-part, EW410 never-scored: rewards that an author believes in and that do nothing."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from envwright.finding import Finding, Severity
from envwright.probe.behaviour.reach import looked_for, reads_the_reply_alone
from envwright.probe.case import Case, Sample
from envwright.probe.code import Code
from envwright.probe.evidence import finding, quoted
from envwright.probe.rule import Check, Extent, Report, Rule
from envwright.probe.scoring import Told, Tried, Try

DEAD = Rule(
    id="EW408",
    name="dead-part",
    defect="dead-part",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="each part of the reward on every reply of every probe, the gold among them, and on the "
    "gold with the texts that its own code looks for",
    hit="a part is the same for all of them, weighs nothing, or is another part's copy",
    why="something is believed to be measured that is not",
    exempt="rewards of which no part moved: their golds are refused; parts that tools or turns "
    "could move, unless their code sees the last reply alone; "
    "metrics, and prices that nothing incurred",
)
NEVER = Rule(
    id="EW410",
    name="never-scored",
    defect="never-scored",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="every reply of every probe",
    hit="a declared reward or metric did not run on any of them",
    why="a number is believed in that is not there",
)
ENOUGH = 40
"""Replies; over fewer a part may well be the same by chance."""
ENOUGH_TASKS = 4
SPOKEN_CASES = 2
NO_CODE = Code(())


def spoken(texts: Sequence[str], said: str) -> list[str]:
    together = "\n".join(texts)
    return [*texts, f"{together}\n{said}", f"{said}\n{together}", f"{said} {' '.join(texts)}"]


class Parts:
    rules = (DEAD, NEVER)

    def __init__(self, documents: str = "", code: Code = NO_CODE) -> None:
        self.documents = documents
        """README and docstrings."""
        self.code = code

    def tries(self, sample: Sample) -> Sequence[Try]:
        """What each part's own code speaks of, alone and beside the gold."""
        return [
            Try(case.task.index, reply)
            for reward in sample.environment.rewards
            if (texts := looked_for(self.code, reward.name))
            for case in sample.cases[:SPOKEN_CASES]
            for reply in spoken(texts, case.said or "")
        ]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        scored = {each: tried for each, tried in told.items() if tried.reward is not None}
        tasks = {each.index for each in scored}
        dead = tuple(self.weightless(sample, scored))
        enough = len(scored) >= ENOUGH and len(tasks) >= min(ENOUGH_TASKS, len(sample.cases))
        if enough and sample.gold_from is not None:
            dead += (*self.constants(sample, scored), *copies(sample, scored))
        reason = "" if enough else f"{len(scored)} scored replies are too few to compare parts on"
        if enough and sample.gold_from is None:
            reason = "without gold no part is expected to move: weights alone were looked at"
        return [
            Report(
                rule=DEAD.id,
                extent=Extent.RAN if enough or dead else Extent.UNFINISHED,
                reason=reason,
                tried=len(scored),
                of=None,
                unit="replies",
                findings=dead,
            ),
            Report(
                rule=NEVER.id,
                tried=len(told),
                of=None,
                unit="replies",
                findings=tuple(never(sample, told)),
            ),
        ]

    def weightless(self, sample: Sample, scored: Told) -> Iterator[Finding]:
        named = {reward.name for reward in sample.environment.rewards if reward.weight == 0}
        for name in (*named, *(set(sample.environment.metrics) - named)):
            if name in named or self.is_called_reward(name):
                if self.is_called_metric(name):
                    continue
                yield of_part(
                    sample, scored, name, f"the reward {name!r} has a weight of 0: it pays nothing"
                )

    def constants(self, sample: Sample, scored: Told) -> Iterator[Finding]:
        environment = sample.environment
        weights = {reward.name: reward.weight for reward in environment.rewards}
        values = values_of(scored)
        if all(len(set(seen)) == 1 for seen in values.values()):
            # Nothing moved anything: that is of the golds, not of one part beside others.
            return
        for name, seen in values.items():
            if len(values) < 2 or len(set(seen)) > 1 or weights.get(name, 1.0) == 0:
                continue
            is_acted = bool(environment.tools) or environment.episodic
            if is_acted and not reads_the_reply_alone(self.code, name):
                continue
            priced = weights.get(name, 1.0) < 0
            yield of_part(
                sample,
                scored,
                name,
                f"the reward {name!r} is {seen[0]:g} for all of {len(seen)} replies, gold included",
                severity=Severity.INFO if priced else None,
            )

    def is_called_metric(self, name: str) -> bool:
        return any("metric" in line.lower() for line in self.lines_on(name))

    def is_called_reward(self, name: str) -> bool:
        return any(re.search(r"\b(reward|pays?|paid|earns?)", line) for line in self.lines_on(name))

    def lines_on(self, name: str) -> list[str]:
        spelled = re.compile(rf"\b{re.escape(name)}\b")
        return [line for line in self.documents.splitlines() if spelled.search(line)]


def copies(sample: Sample, scored: Told) -> Iterator[Finding]:
    values = values_of(scored)
    for one, other in combinations(values, 2):
        if values[one] == values[other] and len(set(values[one])) > 1:
            yield of_part(
                sample,
                scored,
                other,
                f"the rewards {one!r} and {other!r} are the same on all of "
                f"{len(values[one])} replies: one is the other's copy",
            )


def values_of(scored: Told) -> dict[str, list[float]]:
    """Each part's value per reply; parts that some replies do not have are left out."""
    names = {name for tried in scored.values() for name in tried.parts}
    return {
        name: [value for tried in scored.values() if (value := tried.parts[name]) is not None]
        for name in sorted(names)
        if all(tried.parts.get(name) is not None for tried in scored.values())
    }


def of_part(
    sample: Sample, scored: Told, name: str, statement: str, severity: Severity | None = None
) -> Finding:
    """With the gold as the reply that shows it, where there is one."""
    cases = {case.task.index: case for case in sample.cases}
    golds = [each for each in scored if cases[each.index].said == each.reply]
    each = next(iter(golds or scored), None)
    case: Case = sample.cases[0] if each is None else cases[each.index]
    tried: Tried | None = None if each is None else scored[each]
    value = None if tried is None else tried.parts.get(name)
    return finding(
        DEAD,
        sample,
        case,
        "" if each is None else each.reply,
        statement=statement,
        quote="0" if value is None else f"{value:g}",
        signal=name,
        severity=severity,
    )


def never(sample: Sample, told: Told) -> Iterator[Finding]:
    cases = {case.task.index: case for case in sample.cases}
    scored = [(each, tried) for each, tried in told.items() if tried.ended is None]
    everywhere = set[str].intersection(*({*tried.skipped} for _, tried in scored)) if scored else ()
    for name in sorted(everywhere):
        each = scored[0][0]
        yield finding(
            NEVER,
            sample,
            cases[each.index],
            each.reply,
            statement=f"{quoted(name, 60)} is declared and did not run on any of "
            f"{len(scored)} replies",
            quote="did not run",
            signal=name,
        )
