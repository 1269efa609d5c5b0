"""EW406 not-a-number, EW407 out-of-range: what a reward returns that no mean can bear.

A part is expected between 0 and 1, a total between 0 and the sum of the weights that are
paid. What an author says in so many numbers is taken at its word, and a negative weight is
a price that was meant.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envwright.finding import Finding, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.evidence import TOTAL, finding, quoted, shown
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Tried, Try

NOT_A_NUMBER = Rule(
    id="EW406",
    name="not-a-number",
    defect="not-a-number",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="every reply of every probe, nan, inf and zero in the place of the answer among them",
    hit="a reward or metric is NaN, infinite or no number",
    why="it spoils every mean that it enters, and the training step with it",
)
OUT_OF_RANGE = Rule(
    id="EW407",
    name="out-of-range",
    defect="out-of-range",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="every reply of every probe, the gold said many times and long replies among them",
    hit="a part leaves 0 to 1, or a total the range of the weights, and no text says so",
    why="one reply drowns what all others earned",
    exempt="ranges that README or docstrings name, penalties that they explain, negative weights",
)
SLACK = 1e-6
GROSS = 10.0
"""So many times the range is no rounding of it."""
NUMBER = r"[-−]?\d+(?:\.\d+)?"
RANGE = re.compile(rf"({NUMBER})\s*(?:to|and|through|–|—|-|…|\.\.\.?|,|≤|<=)\s*({NUMBER})")
PENALTY = re.compile(
    r"penal|negative|minus|below zero|deduct|subtract|costs?\b|(?<![\w.)])[-−]\s?\d", re.IGNORECASE
)
PAY = re.compile(
    r"reward|score|scoring|pays?\b|paid|earn|points?\b|marks?\b|credit|grade|bonus|penal|worth|total"
    r"|weigh|return|value|range|maximum",
    re.IGNORECASE,
)
"""Other numbers are of the task's matter."""
TIMES = 23
"""How often the gold is said again; a number that texts seldom name."""
MOST_FINDINGS = 2


@dataclass(frozen=True, slots=True)
class Declared:
    """What README and docstrings say, read for numbers."""

    text: str = ""

    @property
    def on_pay(self) -> str:
        """The paragraphs that speak of what is paid."""
        paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*#]|\d+\.)\s)", self.text)
        return "\n\n".join(each for each in paragraphs if PAY.search(each))

    def names(self, value: float) -> bool:
        """Whether a text on pay has this number, or a range that holds it."""
        numbers = [read(found) for found in re.findall(NUMBER, self.on_pay)]
        ranges = [sorted(map(read, found)) for found in RANGE.findall(self.on_pay)]
        return any(abs(number - value) < SLACK for number in numbers) or any(
            low - SLACK <= value <= high + SLACK for low, high in ranges if low <= 0 < high
        )

    @property
    def has_penalties(self) -> bool:
        return PENALTY.search(self.text) is not None


def read(number: str) -> float:
    return float(number.replace("−", "-"))


class Range:
    rules = (NOT_A_NUMBER, OUT_OF_RANGE)

    def __init__(self, declared: Declared) -> None:
        self.declared = declared

    def tries(self, sample: Sample) -> Sequence[Try]:
        """The gold again and again, and words without end: what is counted shows."""
        said = [(case.task.index, case.said) for case in sample.cases[:6] if case.said]
        again = [Try(index, "\n".join([text] * TIMES)) for index, text in said]
        prompts = [
            Try(case.task.index, " ".join([case.task.prompt[:2000]] * 5))
            for case in sample.cases[:3]
        ]
        words = "First, because of this, we therefore step by step conclude the following. "
        return [*again, *prompts, *(Try(case.task.index, words * 40) for case in sample.cases[:3])]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = {case.task.index: case for case in sample.cases}
        bad = [(each, tried) for each, tried in told.items() if tried.not_numbers]
        numbers = tuple(not_a_number(sample, cases, each, tried) for each, tried in bad)
        beyond = tuple(self.beyond(sample, cases, told))
        return [
            Report(rule=rule.id, tried=len(told), of=None, unit="replies", findings=found)
            for rule, found in (
                (NOT_A_NUMBER, numbers[:MOST_FINDINGS]),
                (OUT_OF_RANGE, beyond[:MOST_FINDINGS]),
            )
        ]

    def beyond(self, sample: Sample, cases: dict[int, Case], told: Told) -> Iterator[Finding]:
        """The widest that each signal went, the highest and the lowest."""
        weights = {reward.name: reward.weight for reward in sample.environment.rewards}
        priced = any(weight < 0 for weight in weights.values())
        most = sum(weight for weight in weights.values() if weight > 0) or 1.0
        for name, values in by_signal(told).items():
            if weights.get(name, 1.0) < 0:
                continue
            top = most if name == TOTAL else 1.0
            high = max(values, key=lambda pair: pair[1])
            low = min(values, key=lambda pair: pair[1])
            if high[1] > top + SLACK and not self.declared.names(high[1]):
                yield out_of_range(sample, cases, name, *high, top)
            sinks = low[1] < -SLACK and not (name == TOTAL and priced)
            meant = self.declared.names(low[1]) or (
                self.declared.has_penalties and low[1] >= -top - SLACK
            )
            if sinks and not meant:
                yield out_of_range(sample, cases, name, *low, top)


def by_signal(told: Told) -> dict[str, list[tuple[Try, float]]]:
    """What each part and, where they do not show it, the total was."""
    found: dict[str, list[tuple[Try, float]]] = {}
    for each, tried in told.items():
        for name, value in tried.parts.items():
            if value is not None:
                found.setdefault(name, []).append((each, value))
        if tried.reward is not None and len(tried.parts) != 1:
            found.setdefault(TOTAL, []).append((each, tried.reward))
    return found


def out_of_range(
    sample: Sample, cases: dict[int, Case], name: str, each: Try, value: float, top: float
) -> Finding:
    what = "the total reward" if name == TOTAL else f"the reward {name!r}"
    gross = abs(value) > GROSS * top
    return finding(
        OUT_OF_RANGE,
        sample,
        cases[each.index],
        each.reply,
        statement=f"{what} is {value:g} for {quoted(each.reply, 60)} on task {each.index}, "
        f"outside of 0 to {top:g}, and neither README nor docstrings say so",
        quote=f"{value:g}",
        signal=name,
        severity=Severity.FAIL if gross else Severity.WARN,
    )


def not_a_number(sample: Sample, cases: dict[int, Case], each: Try, tried: Tried) -> Finding:
    name, value = next(iter(tried.not_numbers.items()))
    return finding(
        NOT_A_NUMBER,
        sample,
        cases[each.index],
        each.reply,
        statement=f"{shown(name, 60)} is {shown(value, 60)}, which is no number, "
        f"for {quoted(each.reply, 60)} on task {each.index}",
        quote=shown(value, 200),
        signal=name,
    )
