"""The queue's port: jobs, what a handler answers, and what an engine must do."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from envwright.record import Json


@dataclass(frozen=True, slots=True)
class Job:
    """One unit of work in a queue. Submitting the same id twice is submitting it once."""

    kind: str
    id: str
    queue: str
    payload: Json = field(default_factory=dict[str, object])
    priority: int = 0
    """Lower goes first."""


@dataclass(frozen=True, slots=True)
class Done:
    """The job is finished; `close_queue` says that no other job of its queue can succeed."""

    close_queue: str | None = None


@dataclass(frozen=True, slots=True)
class Park:
    """The job waits so long without holding a slot; with `whole_queue` all its neighbours do."""

    seconds: float
    payload: Json | None = None
    whole_queue: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """Our own code failed; the job is not tried again."""

    error: str


Result = Done | Park | Fail
Handler = Callable[[Job], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class QueueStats:
    limit: int
    running: int
    waiting: int
    parked: int
    closed: str | None


class Engine(Protocol):
    def ensure_queue(self, name: str, limit: int) -> None: ...
    def set_limit(self, name: str, limit: int) -> None: ...
    def submit(self, job: Job, *, delay_seconds: float = 0.0) -> bool: ...
    def cancel(self, job_id: str) -> bool: ...
    def stats(self) -> Mapping[str, QueueStats]: ...
    async def run(self, handlers: Mapping[str, Handler], stop: asyncio.Event) -> None:
        """Work until nothing is left or `stop` is set; then running handlers are cancelled."""
        ...
