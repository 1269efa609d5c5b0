"""`Outcome`: a trial is scored, or it failed and has no reward. `Grade`: one judging of it."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from envwright.errors import Cause, Fault
from envwright.finding import Finding
from envwright.record import Digest, Record
from envwright.trace import Score


class Stop(StrEnum):
    """Why a scored attempt ended."""

    COMPLETED = "completed"
    TURNS = "turns"
    TIME = "time"
    CONTEXT = "context"
    TOKENS = "tokens"
    BUDGET = "budget"
    ENVIRONMENT = "environment"
    """A stop rule of the environment's own."""


class Scored(Record):
    kind: Literal["scored"] = "scored"
    reward: float
    rewards: dict[str, Score]
    metrics: dict[str, float] = {}
    stop: Stop = Stop.COMPLETED
    skipped: tuple[str, ...] = ()
    """Signals that did not run."""


class Failed(Record):
    kind: Literal["failed"] = "failed"
    cause: Cause
    detail: str
    """What broke, with the environment's own traceback where there is one."""
    fault: Fault | None = None
    """What the provider's error means, where that is known."""
    model: str | None = None
    """Whose provider it was."""
    retryable: bool = False
    retry_after_seconds: float | None = None
    refused: bool = False
    """The provider will answer the same to every call of this model."""


Outcome = Annotated[Scored | Failed, Field(discriminator="kind")]


class Grade(Record):
    """An attempt judged by a revision's verifier, the n-th time; added, never replaced."""

    trial: Digest
    attempt: int
    revision: Digest
    n: int = 1
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    graded_at: AwareDatetime
