"""`Pay`: what replies earned, as a share of what the right answer earns.

A reward may run from 0 to 1, to 10, or below zero: no threshold here is a number of points.
Where every right answer earns nothing or less, the share is taken from the least that any
reply to the task earned.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from envwright.finding import Basis, Finding, ReplyCitation, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.evidence import cited, reproduce
from envwright.probe.reply.wording import IDLE, framed, is_gold, rivals, wordings
from envwright.probe.rule import Extent, Report, Rule
from envwright.probe.scoring import Told, Tried, Try

EARNS = 0.75
"""Of the gold's reward: from here on a reply is paid like a right one."""
FULL = 1 - 1e-9
"""Paid as right and not as nearly right."""
HALF = 0.5
NONE = 0.05
"""Less than that above words about nothing is nothing."""
SHORT_OF = 0.75
"""Of what golds are worth: below it one is not paid in full."""
REACHED = 0.1
"""Of the golds: what so many earn is what golds are worth."""
REFUSED = 0.5
"""Below it a right answer is not paid as one."""

MOST = 0.75
"""Of the tasks, from which on a reply earns by a fault and not by chance."""
MANY = 0.6
"""Of the tasks, where chance cannot explain it: the reply is wrong on each of them."""
FEWEST = 3
"""Tasks, below which nothing is said of a share of them, unless there are no more."""

CITED = 3


class Pay:
    def __init__(self, sample: Sample, told: Told, *, of_all: bool = False) -> None:
        self.sample = sample
        self.told = told
        self.of_all = of_all
        """Shares are of all that the parts pay together, where the gold earns less than that."""
        self._least: dict[int, float] = {}
        for each, tried in told.items():
            if tried.reward is not None:
                least = self._least.get(each.index, tried.reward)
                self._least[each.index] = min(least, tried.reward)
        self._tops: dict[int, float] = {}
        self._worth: float | None = None

    def tried(self, case: Case, reply: str) -> Tried | None:
        return self.told.get(Try(case.task.index, reply))

    def reward(self, case: Case, reply: str) -> float | None:
        tried = self.tried(case, reply)
        return None if tried is None else tried.reward

    def share(self, case: Case, reply: str) -> float | None:
        """Of what the right answer earns; None when it was not scored or there is no measure."""
        reward = self.reward(case, reply)
        if reward is None:
            return None
        top = self.top(case)
        if top > 0:
            return reward / top
        least = self._least[case.task.index]
        return (reward - least) / (top - least) if top > least else None

    def best(self, case: Case) -> float | None:
        """The most that any wording of the gold earned."""
        if case.best is None:
            return None
        rewards = [self.reward(case, reply) for reply in wordings(case).values()]
        return max([case.best, *(reward for reward in rewards if reward is not None)])

    def idle(self, case: Case) -> float:
        """What words about nothing earn in good form; less than nothing where that is not known."""
        rewards = [self.reward(case, reply) for reply in idle_replies(case)]
        return min((reward for reward in rewards if reward is not None), default=float("-inf"))

    def top(self, case: Case) -> float:
        """What the right answer earns; where that is no more than words about nothing earn,
        what it should."""
        index = case.task.index
        if index not in self._tops:
            best = self.best(case)
            is_paid = best is not None and best > self.idle(case) + NONE * abs(best)
            is_paid = is_paid and not self.is_scrap(case)
            declared_or_more = max(best or 0.0, declared(self.sample))
            is_top = is_paid and not (self.of_all and len(self.sample.environment.rewards) > 1)
            self._tops[index] = best if is_top and best is not None else declared_or_more
        return self._tops[index]

    def is_scrap(self, case: Case) -> bool:
        """Whether the gold earns what a wrong answer in its form earns too, and golds are worth
        more: then that is the form's, and no answer was paid."""
        others = [self.reward(case, framed(case, each)) for each in rivals(self.sample, case)]
        known = [reward for reward in others if reward is not None]
        best = self.best(case)
        if best is None or not known:
            return False
        return best < SHORT_OF * self.worth and best <= min(known) + NONE * self.worth

    @property
    def worth(self) -> float:
        """What golds are worth: the most that a tenth of them earn, and two at least; of several
        parts, what they pay together."""
        if self._worth is None:
            golds = [case for case in self.sample.cases if is_gold(case)]
            earned = sorted((self.best(case) or 0.0 for case in golds), reverse=True)
            place = max(FEWEST - 1, math.ceil(REACHED * len(earned)))
            reached = earned[place - 1] if len(earned) >= place else 0.0
            parts = len(self.sample.environment.rewards)
            self._worth = max(reached, declared(self.sample) if parts > 1 else 0.0)
        return self._worth


def usual(values: Sequence[float]) -> float:
    """The most frequent value; the largest of those."""
    counts = Counter(round(value, 6) for value in values)
    return max(counts, key=lambda value: (counts[value], value))


def declared(sample: Sample) -> float:
    """The sum of positive weights: what a reply earns that is right in every part."""
    return sum(max(0.0, signal.weight) for signal in sample.environment.rewards) or 1.0


@dataclass(frozen=True, slots=True)
class Tally:
    """On how many tasks one kind of reply did what it should not."""

    label: str
    hits: tuple[tuple[Case, str], ...]
    of: int

    def reaches(self, share: float, cases: int) -> bool:
        """Whether it did on so large a share; of few tasks, on all that there are."""
        return self.of >= min(FEWEST, max(1, cases)) and len(self.hits) >= share * self.of > 0


Baits = Callable[[Case], Mapping[str, str]]
"""Replies to a case by what is done in them; only those that make sense for it."""


def tally(
    cases: Sequence[Case], baits: Baits, hit: Callable[[Case, str], bool | None]
) -> list[Tally]:
    """Every kind of reply over all cases; what could not be scored is not counted."""
    hits: dict[str, list[tuple[Case, str]]] = {}
    counts: Counter[str] = Counter()
    for case in cases:
        for label, reply in baits(case).items():
            verdict = hit(case, reply)
            if verdict is None:
                continue
            counts[label] += 1
            if verdict:
                hits.setdefault(label, []).append((case, reply))
    return [Tally(label, tuple(hits.get(label, ())), of) for label, of in counts.items()]


def tries_of(cases: Sequence[Case], baits: Baits) -> list[Try]:
    """The baits, and what they are compared with."""
    return [
        Try(case.task.index, reply)
        for case in cases
        for reply in (*baits(case).values(), *idle_replies(case))
    ]


def numbered(replies: Iterable[str]) -> dict[str, str]:
    return {str(number): reply for number, reply in enumerate(replies)}


def idle_replies(case: Case) -> list[str]:
    return [framed(case, text) for text in IDLE]


def report(rule: Rule, sample: Sample, tried: int, *findings: Finding, reason: str = "") -> Report:
    extent = Extent.RAN if tried else Extent.NOT_APPLICABLE
    return Report(
        rule=rule.id,
        extent=extent,
        reason=reason if not tried else "",
        tried=tried,
        of=sample.total,
        findings=findings,
    )


def without_gold(rule: Rule, sample: Sample) -> Report:
    return Report(rule=rule.id, extent=Extent.NO_GOLD, reason="no gold is known", of=sample.total)


def finding(
    rule: Rule,
    pay: Pay,
    statement: str,
    evidence: Sequence[tuple[Case, str]],
    severity: Severity | None = None,
) -> Finding:
    """Cited are the first few replies; the first of them is what reproduces it."""
    case, reply = evidence[0]
    return Finding(
        rule=rule.id,
        severity=severity or rule.severity,
        basis=Basis.PROVEN,
        statement=statement,
        citations=tuple(paid(pay, *each) for each in evidence[:CITED]),
        reproduce=reproduce(pay.sample, case.task.index, reply),
    )


def paid(pay: Pay, case: Case, reply: str) -> ReplyCitation:
    reward = pay.reward(case, reply)
    return cited(case, reply, "no reward" if reward is None else f"{reward:g}")


def named(labels: Sequence[str]) -> str:
    """Several kinds of reply inside of a sentence."""
    return ", ".join(dict.fromkeys(labels))
