"""From findings to points: the one table, and the bands that a score falls into. Pure.

A rule counts once, at the worst that it was found to be: a hundred tasks with one fault are
one fault. The dearest rule costs the first of its two prices, every further one its second.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envwright.audit.scorecard import Status
from envwright.finding import Basis, Finding, Severity

BEST = 10.0
PASS_FROM, WARN_FROM = 7.5, 4.0
AT_BEST_WARN = 7.0
"""The most that a check gets whose main question could not be asked."""


@dataclass(frozen=True, slots=True)
class Price:
    first: float
    further: float


PRICES = {
    (Severity.FAIL, Basis.PROVEN): Price(7.0, 1.0),
    (Severity.FAIL, Basis.JUDGED): Price(5.0, 1.0),
    (Severity.WARN, Basis.PROVEN): Price(3.0, 0.75),
    (Severity.WARN, Basis.JUDGED): Price(3.0, 0.5),
    (Severity.INFO, Basis.PROVEN): Price(0.0, 0.0),
    (Severity.INFO, Basis.JUDGED): Price(0.0, 0.0),
}
"""Dearest first. A proven failure alone is below every band but FAIL; a warning is never a PASS."""


def is_blocker(finding: Finding) -> bool:
    """Whether it fails its check, whatever else is right."""
    return finding.severity is Severity.FAIL and finding.basis is Basis.PROVEN


def worst_by_rule(findings: Iterable[Finding]) -> list[Finding]:
    """Of each rule the finding that costs most; the dearest first."""
    order = list(PRICES)
    by_rule: dict[str, Finding] = {}
    for each in sorted(findings, key=lambda each: order.index((each.severity, each.basis))):
        by_rule.setdefault(each.rule, each)
    return list(by_rule.values())


def score_of(findings: Sequence[Finding]) -> float:
    """10 less what each rule costs: the dearest at its first price, the others further."""
    lost = 0.0
    for place, finding in enumerate(worst_by_rule(findings)):
        price = PRICES[finding.severity, finding.basis]
        lost += price.further if place else price.first
    return max(0.0, BEST - lost)


def band_of(score: float) -> Status:
    if score >= PASS_FROM:
        return Status.PASS
    return Status.WARN if score >= WARN_FROM else Status.FAIL


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of them: FAIL > INCOMPLETE > WARN > PASS > N/A."""
    order = list(Status)
    return max(statuses, key=order.index, default=Status.NOT_APPLICABLE)


def rating_of(scored: Iterable[tuple[float | None, float]]) -> float | None:
    """The weighted mean of scores; what has none weighs nothing."""
    known = [(score, weight) for score, weight in scored if score is not None]
    total = sum(weight for _, weight in known)
    if total <= 0:
        return None
    return round(sum(score * weight for score, weight in known) / total, 2)
