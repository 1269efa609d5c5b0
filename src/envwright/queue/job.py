"""The queue's port: jobs, what a handler answers, and what an engine must do.

A job is one unit of work in a queue. It is **held** until all that it comes after is final,
**waiting** for a slot (**parked**, when it or its queue may not start yet), **running** in one
worker, and final as **done**, **failed** or **cancelled**. What a handler wants written with
its answer is written together with the job's new state, or not at all: a worker that was
taken for dead and wakes up records nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from envwright.errors import Fault
from envwright.queue.policy import Failure, Health, RetryPolicy
from envwright.record import Json

CONTROL = "control"
"""The queue of work that asks no model."""
CONTROL_LIMIT = 4


class JobState(StrEnum):
    HELD = "held"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in FINAL


FINAL = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Job:
    """Submitting the same id twice is submitting it once."""

    kind: str
    id: str
    queue: str
    payload: Json = field(default_factory=dict[str, object])
    priority: int = 0
    """Lower goes first."""
    route: str = ""
    """Whose work it is: a worker serves some routes and not others."""
    parent: str | None = None
    run: int = 1
    """How often it was put into its queue: of two who hold it, only the later one may write."""


Record = Callable[[Any], None]
"""Writes to the store's connection, in the transaction that ends the job's run."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What a run taught of its queue: that it is well, or how it failed and how long to wait."""

    failure: Failure | None = None
    seconds: float = 0.0
    words: str | None = None
    """What failed, for people."""
    retry: RetryPolicy = RetryPolicy()
    """How patient its queue is."""


@dataclass(frozen=True, slots=True)
class Done:
    record: Record | None = None
    learned: Learned | None = None
    follow_ups: tuple[Job, ...] = ()
    close: str | None = None
    """Why no other job of this queue and route can succeed: those that wait are cancelled."""


@dataclass(frozen=True, slots=True)
class Park:
    """The job waits so long without holding a slot."""

    seconds: float
    payload: Json | None = None
    record: Record | None = None
    learned: Learned | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Our own code failed; the job is not tried again."""

    error: str
    record: Record | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """The job ends without having done its work, for this reason; with `route` all that wait do."""

    why: str
    record: Record | None = None
    route: bool = False


Result = Done | Park | Fail | Cancel
Handler = Callable[[Job], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class QueueStats:
    health: Health
    running: int = 0
    waiting: int = 0
    parked: int = 0
    held: int = 0
    why: str | None = None
    """Why it is parked, where a person said so or a provider."""


class Engine(Protocol):
    """Durable or not, one contract: tests/test_queue.py."""

    async def ensure_queue(self, name: str, limit: int) -> None:
        """A queue with this limit; one that a person set stays."""
        ...

    async def set_limit(self, name: str, limit: int) -> None: ...

    async def park(self, name: str, seconds: float, why: str | None = None) -> None:
        """Nothing of this queue starts for so long."""
        ...

    async def open(self, name: str) -> None:
        """As if its provider had never failed."""
        ...

    async def complain(self, name: str, seconds: float, fault: Fault) -> None:
        """The provider asks to wait."""
        ...

    async def submit(
        self,
        jobs: Sequence[Job],
        *,
        delay_seconds: float = 0.0,
        after: Sequence[str] = (),
        again: bool = False,
    ) -> int:
        """How many of them are new; with `again` those that are final are put back.

        With `after` they are released once, when all of those are final.
        """
        ...

    async def cancel(self, ids: Sequence[str], why: str = "cancelled") -> int:
        """How many there were to cancel; one that runs is ended soon."""
        ...

    async def stats(self) -> Mapping[str, QueueStats]: ...

    async def run(
        self, handlers: Mapping[str, Handler], stop: asyncio.Event, *, drain: bool = False
    ) -> None:
        """Work until `stop` is set, or with `drain` until nothing is left.

        What runs then is cancelled and given back.
        """
        ...
