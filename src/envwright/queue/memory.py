"""The engine in memory: one process, nothing durable. The fake that the durable one is held to.

Several `run`s of one engine are several workers. What a result wants recorded is called
with None in place of a connection.
"""

import asyncio
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from envwright.errors import Cause, EnvwrightError, Fault, UsageError
from envwright.queue.job import (
    Cancel,
    Done,
    Engine,
    Fail,
    Handler,
    Job,
    JobState,
    Park,
    QueueStats,
    Result,
)
from envwright.queue.policy import Failure, Health

LOOK_SECONDS = 0.01


@dataclass(slots=True)
class Entry:
    job: Job
    order: int
    state: JobState
    ready_at: float
    after: set[str] = field(default_factory=set[str])
    task: asyncio.Future[Result] | None = None
    begun_at: float = 0.0
    why: str | None = None
    """Why it was cancelled; set while it runs, it is on its way out."""


@dataclass(slots=True)
class Lane:
    """One queue's state."""

    health: Health
    pinned: bool = False
    why: str | None = None


class MemoryEngine(Engine):
    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._entries: dict[str, Entry] = {}
        self._order = itertools.count()
        self.failures: list[str] = []

    async def ensure_queue(self, name: str, limit: int) -> None:
        lane = self._lanes.setdefault(name, Lane(Health.fresh(limit)))
        if not lane.pinned:
            lane.health = lane.health.with_limit(limit)

    async def set_limit(self, name: str, limit: int) -> None:
        lane = self._lane(name)
        lane.health, lane.pinned = lane.health.with_limit(limit), True

    async def park(self, name: str, seconds: float, why: str | None = None) -> None:
        lane = self._lane(name)
        until = max(lane.health.parked_until, time.time() + seconds)
        lane.health, lane.why = replace(lane.health, parked_until=until), why

    async def open(self, name: str) -> None:
        lane = self._lane(name)
        lane.health, lane.why = Health.fresh(lane.health.limit), None

    async def complain(self, name: str, seconds: float, fault: Fault) -> None:
        failure = Failure(Cause.PROVIDER, retryable=True, fault=fault, retry_after_seconds=seconds)
        lane = self._lane(name)
        lane.health = lane.health.after_failure(failure, seconds, time.time())

    def _lane(self, name: str) -> Lane:
        if name not in self._lanes:
            listed = ", ".join(sorted(self._lanes)) or "none yet"
            raise UsageError(f"there is no queue {name!r}", hint=f"there are: {listed}")
        return self._lanes[name]

    async def submit(
        self,
        jobs: Sequence[Job],
        *,
        delay_seconds: float = 0.0,
        after: Sequence[str] = (),
        again: bool = False,
    ) -> int:
        added = 0
        for job in jobs:
            old = self._entries.get(job.id)
            if old is not None and not (again and old.state.is_final):
                continue
            added += 1
            self._entries[job.id] = Entry(
                job=job if old is None else replace(job, run=old.job.run + 1),
                order=next(self._order),
                state=JobState.HELD if after else JobState.WAITING,
                ready_at=time.time() + delay_seconds,
                after=set(after),
            )
        self._release()
        return added

    def _release(self) -> None:
        for entry in self._entries.values():
            if entry.state is JobState.HELD and all(map(self._is_final, entry.after)):
                entry.state = JobState.WAITING

    def _is_final(self, name: str) -> bool:
        entry = self._entries.get(name)
        return entry is not None and entry.state.is_final

    async def cancel(self, ids: Sequence[str], why: str = "cancelled") -> int:
        found = [self._entries[name] for name in ids if name in self._entries]
        ended = [entry for entry in found if self._cancel(entry, why)]
        self._release()
        return len(ended)

    def _cancel(self, entry: Entry, why: str) -> bool:
        if entry.state.is_final or entry.why is not None:
            return False
        entry.why = why
        if entry.state is JobState.RUNNING:
            assert entry.task is not None
            entry.task.cancel()
        else:
            entry.state = JobState.CANCELLED
        return True

    async def stats(self) -> Mapping[str, QueueStats]:
        now = time.time()
        found: dict[str, QueueStats] = {}
        for name, lane in self._lanes.items():
            mine = [entry for entry in self._entries.values() if entry.job.queue == name]
            waiting = [entry for entry in mine if entry.state is JobState.WAITING]
            shut = lane.health.room(now) == 0
            parked = sum(shut or entry.ready_at > now for entry in waiting)
            found[name] = QueueStats(
                health=lane.health,
                running=sum(entry.state is JobState.RUNNING for entry in mine),
                waiting=len(waiting) - parked,
                parked=parked,
                held=sum(entry.state is JobState.HELD for entry in mine),
                why=lane.why,
            )
        return found

    async def run(
        self, handlers: Mapping[str, Handler], stop: asyncio.Event, *, drain: bool = False
    ) -> None:
        mine: dict[asyncio.Task[None], asyncio.Future[Result]] = {}
        stopped = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                for task in [task for task in mine if task.done()]:
                    del mine[task]
                    task.result()
                for entry in self._startable():
                    entry.state, entry.begun_at = JobState.RUNNING, time.time()
                    entry.task = asyncio.ensure_future(handlers[entry.job.kind](entry.job))
                    mine[asyncio.create_task(self._work(entry, entry.task))] = entry.task
                if drain and all(entry.state.is_final for entry in self._entries.values()):
                    return
                await asyncio.wait({stopped}, timeout=LOOK_SECONDS)
        finally:
            stopped.cancel()
            for running in mine.values():
                running.cancel()
            await asyncio.gather(*mine, return_exceptions=True)

    def _startable(self) -> list[Entry]:
        now = time.time()
        found: list[Entry] = []
        for name, lane in self._lanes.items():
            mine = [entry for entry in self._entries.values() if entry.job.queue == name]
            room = lane.health.room(now) - sum(e.state is JobState.RUNNING for e in mine)
            ready = [e for e in mine if e.state is JobState.WAITING and e.ready_at <= now]
            ready.sort(key=lambda entry: (entry.job.priority, entry.order))
            found += ready[: max(0, room)]
        return found

    async def _work(self, entry: Entry, task: asyncio.Future[Result]) -> None:
        job = entry.job
        try:
            await asyncio.wait({task})
            if not task.cancelled():
                self._settle(entry, task.result())
            elif entry.why is not None:
                self._settle(entry, Cancel(entry.why))
            else:
                self._put_back(entry)
        except EnvwrightError:
            # What every job needs is gone: it is said, and nothing more begins.
            self._put_back(entry)
            raise
        except Exception as error:  # noqa: BLE001 - the worker's loop
            self.failures.append(f"{job.kind} {job.id[:40]}: {type(error).__name__}: {error}")
            self._settle(entry, Fail(f"{type(error).__name__}: {error}"))

    def _put_back(self, entry: Entry) -> None:
        cancelled = entry.why is not None
        entry.state = JobState.CANCELLED if cancelled else JobState.WAITING
        entry.job, entry.order = replace(entry.job, run=entry.job.run + 1), next(self._order)
        self._release()

    def _settle(self, entry: Entry, result: Result) -> None:
        job, lane = entry.job, self._lanes[entry.job.queue]
        if result.record is not None:
            result.record(None)
        if isinstance(result, Done | Park) and (learned := result.learned) is not None:
            now = time.time()
            lane.health = (
                lane.health.after_success(entry.begun_at, now)
                if learned.failure is None
                else lane.health.after_failure(learned.failure, learned.seconds, now, learned.retry)
            )
        match result:
            case Park(seconds=seconds, payload=payload):
                entry.job = job if payload is None else replace(job, payload=payload)
                entry.ready_at = time.time() + seconds
                self._put_back(entry)
            case Fail():
                entry.state = JobState.FAILED
            case Cancel(why=why, route=whole):
                entry.state, entry.why = JobState.CANCELLED, why
                self._cancel_waiting(why, job, whole=whole)
            case Done(follow_ups=follow_ups, close=close):
                entry.state = JobState.DONE
                for each in follow_ups:
                    fresh = Entry(each, next(self._order), JobState.WAITING, time.time())
                    self._entries.setdefault(each.id, fresh)
                self._cancel_waiting(close, job, whole=False, queue=job.queue)
        self._release()

    def _cancel_waiting(
        self, why: str | None, job: Job, *, whole: bool, queue: str | None = None
    ) -> None:
        """Its neighbours that were not started: of its kind with `whole`, or of a queue."""
        if why is None or (not whole and queue is None):
            return
        for entry in self._entries.values():
            other = entry.job
            same = other.queue == queue if queue is not None else other.kind == job.kind
            if same and other.route == job.route and entry.state is not JobState.RUNNING:
                self._cancel(entry, why)
