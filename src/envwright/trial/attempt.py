"""`Attempt`: one go at a trial, with its traces. Attempts are kept; none is overwritten."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from envwright.record import Digest, Record
from envwright.trace import Trace


class AttemptState(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    """It was graded, well or badly."""
    LOST = "lost"
    """It ended through no doing of its own, and is not charged."""
    CANCELLED = "cancelled"


class Attempt(Record):
    trial: Digest
    n: int = Field(ge=1)
    state: AttemptState
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    traces: tuple[Trace, ...] = ()
    problem: str | None = None
    """Why it was lost."""
