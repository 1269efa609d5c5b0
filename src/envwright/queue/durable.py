"""`DurableEngine`: jobs in the store, their tickets in DBOS, one worker per process.

DBOS hands out tickets, each to one worker and within a queue's limit. What this worker may
take is decided here, each time that DBOS is about to claim: the queue's room as the store
has it, the routes that this worker serves, its free slots. Between claims the worker says
that it is there, learns what changed, and takes over from workers that died. Nothing that
matters is only in memory.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from envwright.errors import EnvwrightError, Fault
from envwright.queue.dispatch import Dispatch
from envwright.queue.job import Cancel, Engine, Fail, Handler, Job, QueueStats, Result
from envwright.queue.state import Pulse, State, Worker

BUSY_BEAT_SECONDS, IDLE_BEAT_SECONDS = 0.3, 1.0
REAP_SECONDS = 2.0
PRUNE_SECONDS = 60.0
LOST_AFTER_SECONDS = 20.0
"""Without having been able to say so for this long, others may have taken over: all is ended."""


async def serves_all(_: str) -> bool:
    return True


async def nothing() -> None:
    return None


@dataclass(slots=True)
class Links:
    """How the rest of the worker takes part."""

    serves: Callable[[str], Awaitable[bool]] = serves_all
    """Whether this worker can do the work of a route."""
    felt: Callable[[Pulse], None] = lambda _: None
    """Told of every pulse."""
    is_gone: Callable[[str], bool] = lambda _: False
    """Whether a worker is known to be dead, before it is late."""
    cancelled: Callable[[str], None] = lambda _: None
    """Told of routes whose running jobs are being cancelled."""
    reaped: Callable[[], Awaitable[None]] = nothing
    """Called after others were found to be dead."""


@dataclass(slots=True)
class Running:
    job: Job
    task: asyncio.Task[Result]
    cancelled: bool = False


class DurableEngine(Engine):
    def __init__(
        self,
        state: State,
        dispatch: Callable[[], Dispatch],
        worker: Worker,
        links: Links | None = None,
    ) -> None:
        self.state = state
        self.worker = worker
        self._make_dispatch = dispatch
        self._links = links or Links()
        self._handlers: Mapping[str, Handler] = {}
        self._running: dict[str, Running] = {}
        self._served: dict[str, bool] = {}
        self._stopping = False
        self._broken: EnvwrightError | None = None
        self._wake = asyncio.Event()
        self.failures: list[str] = []
        """Our own bugs."""

    async def ensure_queue(self, name: str, limit: int) -> None:
        await self.state.ensure_queue(name, limit)

    async def set_limit(self, name: str, limit: int) -> None:
        await self.state.set_limit(name, limit)

    async def park(self, name: str, seconds: float, why: str | None = None) -> None:
        await self.state.park(name, seconds, why)

    async def open(self, name: str) -> None:
        await self.state.open(name)

    async def complain(self, name: str, seconds: float, fault: Fault) -> None:
        await self.state.complain(name, seconds, fault)
        self._wake.set()

    async def submit(
        self,
        jobs: Sequence[Job],
        *,
        delay_seconds: float = 0.0,
        after: Sequence[str] = (),
        again: bool = False,
    ) -> int:
        added = await self.state.submit(jobs, delay_seconds, after, again=again)
        self._wake.set()
        return added

    async def cancel(self, ids: Sequence[str], why: str = "cancelled") -> int:
        found = await self.state.cancel(ids, why)
        self._wake.set()
        return found

    async def stats(self) -> Mapping[str, QueueStats]:
        return await self.state.stats()

    async def run(
        self, handlers: Mapping[str, Handler], stop: asyncio.Event, *, drain: bool = False
    ) -> None:
        self._handlers = handlers
        self._stopping = False
        await self.state.hello(self.worker)
        dispatch = self._make_dispatch()
        await asyncio.to_thread(dispatch.start, self.worker, self.perform)
        chores = [
            asyncio.create_task(self._beat(dispatch, stop, drain=drain)),
            asyncio.create_task(self._reap()),
            asyncio.create_task(self._prune()),
        ]
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({stopped, *chores}, return_when=asyncio.FIRST_COMPLETED)
            for chore in chores:
                if chore.done():
                    chore.result()
        finally:
            self._stopping = True
            dispatch.shut()
            for task in [stopped, *chores]:
                task.cancel()
            await asyncio.gather(stopped, *chores, return_exceptions=True)
            await self._end_all()
            await asyncio.to_thread(dispatch.stop)
            await self.state.leave(self.worker.id)
        if self._broken is not None:
            raise self._broken

    # What runs

    async def perform(self, ticket: str) -> None:
        """One run of a job, from claim to what is written of it."""
        worker = self.worker.id
        if self._stopping:
            return
        job = await self.state.claim(ticket, worker)
        if job is None:
            return
        task = asyncio.ensure_future(self._handle(job))
        running = self._running[job.id] = Running(job, task)
        try:
            await asyncio.wait({task})
            if worker != self.worker.id:
                # Others took this worker for dead, and its jobs: nothing is written.
                return
            if task.cancelled():
                await self._give_up(running, worker)
            else:
                await self.state.settle(job, worker, task.result())
        except EnvwrightError as error:
            self._break(error)
        finally:
            self._running.pop(job.id, None)
            self._wake.set()

    async def _handle(self, job: Job) -> Result:
        if self._stopping:
            raise asyncio.CancelledError
        try:
            return await self._handlers[job.kind](job)
        except EnvwrightError as error:
            # What every job needs is gone, the store for one: it is said, and nothing more begins.
            self._break(error)
            raise asyncio.CancelledError from error
        except Exception as error:  # noqa: BLE001 - the worker's loop
            self.failures.append(f"{job.kind} {job.id[:40]}: {type(error).__name__}: {error}")
            return Fail(f"{type(error).__name__}: {error}")

    async def _give_up(self, running: Running, worker: str) -> None:
        if running.cancelled:
            await self.state.settle(running.job, worker, Cancel("cancelled while it ran"))
        else:
            await self.state.give_back(running.job, worker)

    def _break(self, error: EnvwrightError) -> None:
        self._broken = self._broken or error
        self._wake.set()

    async def _end_all(self) -> None:
        """End what runs; each writes what it has to before this returns."""
        for running in self._running.values():
            running.task.cancel()
        while self._running:
            await asyncio.sleep(0.01)

    # Chores

    async def _beat(self, dispatch: Dispatch, stop: asyncio.Event, *, drain: bool) -> None:
        beaten = time.monotonic()
        while not stop.is_set() and self._broken is None:
            self._wake.clear()
            pulse = None
            with contextlib.suppress(TimeoutError):
                pulse = await asyncio.wait_for(self.state.beat(self.worker.id), LOST_AFTER_SECONDS)
            if pulse is None:
                await self._start_over()
                beaten = time.monotonic()
                continue
            if time.monotonic() - beaten > LOST_AFTER_SECONDS:
                # It was asleep; the record is fenced, but what runs may run elsewhere as well.
                await self._end_all()
            beaten = time.monotonic()
            await self._learn_routes(pulse)
            self._links.felt(pulse)
            self._end_cancelled(pulse)
            served = {route for route, good in self._served.items() if good}
            await asyncio.to_thread(dispatch.learn, pulse, served)
            if drain and not self._running and not any(pulse.left.get(r) for r in served):
                return
            busy = bool(self._running or pulse.waiting)
            pause = BUSY_BEAT_SECONDS if busy else IDLE_BEAT_SECONDS
            if pulse.wake_at is not None:
                pause = max(0.02, min(pause, pulse.wake_at - pulse.now))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause)
                # Several things that happen at once are one reason to look.
                await asyncio.sleep(0.02)

    def _end_cancelled(self, pulse: Pulse) -> None:
        ending = [self._running[name] for name in pulse.cancelled & self._running.keys()]
        for running in ending:
            running.cancelled = True
            running.task.cancel()
        for route in {running.job.route for running in ending}:
            self._links.cancelled(route)

    def refuse(self, route: str) -> None:
        """This worker turned out not to be able to serve a route."""
        self._served[route] = False

    def running_of(self, route: str) -> int:
        return sum(running.job.route == route for running in self._running.values())

    async def _learn_routes(self, pulse: Pulse) -> None:
        for route in pulse.left:
            if route not in self._served:
                self._served[route] = await self._links.serves(route)
        self._served = {route: good for route, good in self._served.items() if route in pulse.left}

    async def _start_over(self) -> None:
        """Others took this worker for dead: it ends what it runs, and is another from now on."""
        place = self.worker.id.partition("~")[0]
        self.worker = replace(self.worker, id=f"{place}~{secrets.token_hex(3)}")
        await self._end_all()
        await self.state.hello(self.worker)

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(REAP_SECONDS)
            dead, _held = await self.state.reap(self.worker.id, self._links.is_gone)
            if dead:
                await self._links.reaped()
                self._wake.set()

    async def _prune(self) -> None:
        while True:
            await self.state.prune()
            await asyncio.sleep(PRUNE_SECONDS)
