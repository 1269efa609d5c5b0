"""`assemble`: six answers → one `Scorecard`. Pure."""

from collections.abc import Sequence

from envwright.audit.baseline import Accepted
from envwright.audit.checks import Rules
from envwright.audit.feedback import feedback_of
from envwright.audit.points import rating_of, worst
from envwright.audit.scorecard import CheckResult, Scorecard, Subject
from envwright.probe.rule import Check


def assemble(
    subject: Subject,
    results: Sequence[CheckResult],
    rules: Rules,
    accepted: Accepted | None = None,
    notes: Sequence[str] = (),
) -> Scorecard:
    """The checks in their order. What a baseline accepts is no longer among their findings."""
    by_check = {each.check: each for each in results}
    if len(by_check) != len(results) or set(by_check) != set(Check):
        raise ValueError("a scorecard holds each check once")
    checks = tuple(by_check[check] for check in Check)
    return Scorecard(
        environment=subject,
        status=worst(each.status for each in checks),
        rating=rating_of((each.score, each.weight) for each in checks),
        checks=checks,
        feedback=feedback_of(subject, checks, rules, accepted, notes),
        baseline=accepted,
    )
