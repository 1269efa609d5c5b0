"""The engine in memory: one process, nothing durable. The jobs' own records are the memory.

Guarantees: a queue never runs more than its limit; a parked job holds no slot; a sick
queue never delays another; a job runs once per submit; `stop` ends within the time that
handlers need to be cancelled; an `EnvwrightError` of a handler ends all and is raised.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from envwright.errors import EnvwrightError
from envwright.queue.job import Done, Fail, Handler, Job, Park, QueueStats, Result


@dataclass(slots=True)
class Lane:
    """One queue's state."""

    limit: int
    ready: list[tuple[int, int, Job]] = field(default_factory=list[tuple[int, int, Job]])
    parked: list[tuple[float, int, Job]] = field(default_factory=list[tuple[float, int, Job]])
    running: int = 0
    parked_until: float = 0.0
    closed: str | None = None

    def drop(self, job_id: str) -> bool:
        """Take a job that does not run yet out of the queue."""
        before = len(self.ready) + len(self.parked)
        self.ready = [entry for entry in self.ready if entry[2].id != job_id]
        self.parked = [entry for entry in self.parked if entry[2].id != job_id]
        heapq.heapify(self.ready)
        heapq.heapify(self.parked)
        return len(self.ready) + len(self.parked) < before


class MemoryEngine:
    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._known: set[str] = set()
        self._cancelled: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._order = itertools.count()
        self._changed = asyncio.Event()
        self.failures: list[str] = []
        self._broken: EnvwrightError | None = None

    def ensure_queue(self, name: str, limit: int) -> None:
        if name not in self._lanes:
            self._lanes[name] = Lane(limit)

    def set_limit(self, name: str, limit: int) -> None:
        self._lanes[name].limit = limit
        self._changed.set()

    def submit(self, job: Job, *, delay_seconds: float = 0.0) -> bool:
        if job.id in self._known:
            return False
        self._known.add(job.id)
        self._place(job, delay_seconds)
        return True

    def _place(self, job: Job, delay_seconds: float) -> None:
        lane = self._lanes[job.queue]
        if delay_seconds > 0:
            heapq.heappush(lane.parked, (time.monotonic() + delay_seconds, next(self._order), job))
        else:
            heapq.heappush(lane.ready, (job.priority, next(self._order), job))
        self._changed.set()

    def cancel(self, job_id: str) -> bool:
        """Whether there was anything left to cancel."""
        task = self._tasks.get(job_id)
        if task is not None:
            self._cancelled.add(job_id)
            task.cancel()
        dropped = [lane.drop(job_id) for lane in self._lanes.values()]
        self._changed.set()
        return task is not None or any(dropped)

    def stats(self) -> Mapping[str, QueueStats]:
        return {
            name: QueueStats(
                limit=lane.limit,
                running=lane.running,
                waiting=len(lane.ready),
                parked=len(lane.parked),
                closed=lane.closed,
            )
            for name, lane in self._lanes.items()
        }

    async def run(self, handlers: Mapping[str, Handler], stop: asyncio.Event) -> None:
        stopped = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                if self._broken is not None:
                    raise self._broken
                self._changed.clear()
                wake_at = self._start_all(handlers)
                if self._is_empty():
                    return
                changed = asyncio.create_task(self._changed.wait())
                timeout = None if wake_at is None else max(0.0, wake_at - time.monotonic())
                await asyncio.wait(
                    {changed, stopped}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
                )
                changed.cancel()
        finally:
            stopped.cancel()
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _is_empty(self) -> bool:
        lanes = self._lanes.values()
        return not any(lane.running or lane.ready or lane.parked for lane in lanes)

    def _start_all(self, handlers: Mapping[str, Handler]) -> float | None:
        """Start what has room; when to look again at the latest."""
        now = time.monotonic()
        wakes: list[float] = []
        for lane in self._lanes.values():
            while lane.parked and lane.parked[0][0] <= now:
                _, order, job = heapq.heappop(lane.parked)
                heapq.heappush(lane.ready, (job.priority, order, job))
            if lane.closed is not None:
                lane.ready.clear()
                lane.parked.clear()
            if lane.parked_until > now:
                wakes.append(lane.parked_until)
                continue
            while lane.ready and lane.running < lane.limit:
                _, _, job = heapq.heappop(lane.ready)
                lane.running += 1
                self._tasks[job.id] = asyncio.create_task(self._work(job, lane, handlers))
            if lane.parked:
                wakes.append(lane.parked[0][0])
        return min(wakes) if wakes else None

    async def _work(self, job: Job, lane: Lane, handlers: Mapping[str, Handler]) -> None:
        try:
            result: Result = await handlers[job.kind](job)
        except asyncio.CancelledError:
            result = Done()
        except EnvwrightError as error:
            # What every job needs is gone, the store for one: it is said, and nothing more begins.
            self._broken = self._broken or error
            result = Done()
        except Exception as error:  # noqa: BLE001 - the worker's loop
            result = Fail(f"{type(error).__name__}: {error}")
        lane.running -= 1
        self._tasks.pop(job.id, None)
        match result:
            case Park(seconds, payload, whole_queue):
                if whole_queue:
                    lane.parked_until = max(lane.parked_until, time.monotonic() + seconds)
                again = Job(job.kind, job.id, job.queue, payload or job.payload, job.priority)
                if job.id not in self._cancelled:
                    self._place(again, seconds)
            case Fail(error):
                self.failures.append(f"{job.kind} {job.id[:12]}: {error}")
            case Done(close_queue):
                lane.closed = lane.closed or close_queue
        self._changed.set()
