"""`Scorecard`: the answer to the audit's six questions."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from envwright.audit.baseline import Accepted
from envwright.environment import Kind
from envwright.finding import Finding
from envwright.probe.rule import Check
from envwright.record import Digest, Json, Record

Score = Annotated[float, Field(ge=0, le=10, strict=True)]

WEIGHTS = {
    Check.INTEGRITY: 1.0,
    Check.PROBLEM_ALIGNMENT: 1.0,
    Check.REWARD_DESIGN: 1.0,
    Check.LATENCY: 0.5,
    Check.ROLLOUT_QUALITY: 1.0,
    Check.CONTAMINATION: 0.5,
}


class Status(StrEnum):
    """Better first; of several the last one counts."""

    NOT_APPLICABLE = "N/A"
    PASS = "PASS"
    WARN = "WARN"
    INCOMPLETE = "INCOMPLETE"
    FAIL = "FAIL"


class CheckResult(Record):
    check: Check
    status: Status
    score: Score | None
    """None when it is N/A, or nothing of it could be done."""
    weight: float
    justification: str
    findings: tuple[Finding, ...] = ()


class Subject(Record):
    """Which environment it was."""

    name: str
    kind: Kind | None
    """None when it does not load."""
    revision: Digest
    goal: str


class Scorecard(Record):
    environment: Subject
    status: Status
    rating: Score | None
    """Out of 10; None when no check had a score."""
    checks: tuple[CheckResult, ...]
    feedback: str
    baseline: Accepted | None = None
    """What was accepted; None, and left out, where no baseline was given."""

    @property
    def unfinished(self) -> bool:
        """Whether a check is missing from its rating that should be in it."""
        return any(check.status is Status.INCOMPLETE for check in self.checks)

    @model_serializer(mode="wrap")
    def without_unset(self, handler: SerializerFunctionWrapHandler) -> Json:
        said: Json = handler(self)
        return said if self.baseline else {n: v for n, v in said.items() if n != "baseline"}
