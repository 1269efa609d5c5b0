"""`State`: where jobs, queues and workers are remembered. The store implements it.

Each method is one transaction. `put` of the tickets is called inside it, so that a job and
its place in the queue are there together or not at all.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from envwright.errors import Fault
from envwright.queue.job import Job, QueueStats, Result
from envwright.queue.policy import Health


@dataclass(frozen=True, slots=True)
class Worker:
    """Who works: one process, known by an id that no other has had."""

    id: str
    slots: int
    stays: bool
    """It serves whatever is submitted; else it ends with the sweep that it was started for."""
    release: str


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a worker learns each time it says that it is there."""

    now: float
    """The database's clock, the same for all machines."""
    queues: Mapping[str, Health]
    waiting: Mapping[str, Sequence[str]]
    """Queue → the routes with jobs that may start, the most urgent first."""
    left: Mapping[str, int]
    """Route → its jobs that are not final."""
    cancelled: frozenset[str] = frozenset()
    """Jobs that this worker runs and should end."""
    wake_at: float | None = None
    """When the next parked job may start."""


@dataclass(frozen=True, slots=True)
class Times:
    """How often a worker looks, and after how long something is given up; seconds."""

    busy_beat: float = 0.3
    idle_beat: float = 1.0
    reap: float = 2.0
    prune: float = 60.0
    dead_after: float = 12.0
    """A worker that did not say for so long that it is there is taken for dead."""
    lost_after: float = 20.0
    """A worker that could not say so for so long ends all: others may have taken over."""
    kept: float = 3600.0
    """How long a ticket that ended is remembered."""


class Tickets(Protocol):
    """Places in a queue: what is claimed, by one worker each."""

    def put(self, connection: Any, job: Job, delay_seconds: float) -> None: ...
    def drop(self, connection: Any, tickets: Sequence[str]) -> None: ...
    def held_by(self, connection: Any, worker: str) -> Sequence[str]: ...
    def held_by_none_of(self, connection: Any, workers: Collection[str]) -> Sequence[str]: ...
    def missing(self, connection: Any, ticket: Any) -> Any: ...
    def prune(self, connection: Any, older_than_seconds: float) -> int: ...


class State(Protocol):
    async def ensure_queue(self, name: str, limit: int) -> None: ...
    async def set_limit(self, name: str, limit: int) -> None: ...
    async def park(self, name: str, seconds: float, why: str | None) -> None: ...
    async def open(self, name: str) -> None: ...
    async def complain(self, name: str, seconds: float, fault: Fault) -> None: ...
    async def stats(self) -> Mapping[str, QueueStats]: ...

    async def submit(
        self, jobs: Sequence[Job], /, delay_seconds: float, after: Sequence[str], *, again: bool
    ) -> int: ...

    async def cancel(self, ids: Sequence[str], why: str) -> int: ...

    async def claim(self, ticket: str, worker: str) -> Job | None:
        """The job of a ticket, running from now on; None when it is not this ticket's any more."""
        ...

    async def settle(self, job: Job, worker: str, result: Result) -> bool:
        """Write what a run came to; False when the job was given to somebody else meanwhile."""
        ...

    async def give_back(self, job: Job, worker: str) -> bool:
        """It waits again, as if it had not been started."""
        ...

    async def put_back(self, tickets: Sequence[str]) -> None:
        """Nobody works on these: what they stand for waits again, under new ones."""
        ...

    async def held(self, worker: str) -> frozenset[str]:
        """The tickets that a worker has, as all others see it."""
        ...

    async def hello(self, worker: Worker) -> None: ...

    async def beat(self, worker: str) -> Pulse | None:
        """None when others took this worker for dead."""
        ...

    async def leave(self, worker: str) -> None: ...

    async def reap(
        self, worker: str, is_gone: Callable[[str], bool], *, judge: bool = True
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Put back what dead workers had: who they were, and the tickets that they held.

        Only who may judge takes the late for dead.
        """
        ...

    async def prune(self) -> None:
        """Forget what nobody will ask for; mend what would wait for ever."""
        ...


def ticket_of(job: Job) -> str:
    return ticket_named(job.id, job.run)


def ticket_named(name: str, run: int) -> str:
    return f"{name}#{run}"


def read_ticket(ticket: str) -> tuple[str, int]:
    name, _, run = ticket.rpartition("#")
    return name, int(run)
