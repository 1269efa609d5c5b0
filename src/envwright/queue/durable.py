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
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from envwright.errors import EnvwrightError, Fault
from envwright.queue.job import Cancel, Engine, Fail, Handler, Job, QueueStats, Result
from envwright.queue.state import Pulse, State, Times, Worker

if TYPE_CHECKING:
    from envwright.queue.dispatch import Dispatch

LAST_WORDS_SECONDS = 5.0
"""How long what ends badly may still write."""


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
        dispatch: Callable[[], "Dispatch"],
        worker: Worker,
        links: Links | None = None,
        times: Times | None = None,
    ) -> None:
        self.state = state
        self.worker = worker
        self._make_dispatch = dispatch
        self._links = links or Links()
        self._times = times or Times()
        self._handlers: Mapping[str, Handler] = {}
        self._running: dict[str, Running] = {}
        """By ticket: a job may run again before its former run has heard that it is settled."""
        self._performing = 0
        self._asked: dict[str, asyncio.Future[bool]] = {}
        """Route → whether it is served, as soon as that is known."""
        self._felt_at = self._steady_since = 0.0
        self._former: set[str] = set()
        """The names under which it worked before."""
        self._stopping = False
        self._broken: Exception | None = None
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
        self._handlers, self._broken, self._stopping = handlers, None, False
        if self.worker.id in self._former:
            self.worker = reborn(self.worker)
        self._former.add(self.worker.id)
        await self.state.hello(self.worker)
        dispatch = self._make_dispatch()
        chores: list[asyncio.Task[Any]] = []
        try:
            await asyncio.to_thread(dispatch.start, self.worker, self.perform)
            chores = [
                asyncio.create_task(self._beat(dispatch, stop, drain=drain)),
                asyncio.create_task(self._reap(dispatch)),
                asyncio.create_task(self._prune()),
                asyncio.create_task(stop.wait()),
            ]
            await asyncio.wait(chores, return_when=asyncio.FIRST_COMPLETED)
            for chore in chores:
                if chore.done():
                    chore.result()
        finally:
            await self._end(dispatch, [*chores, *self._asked.values()])
        if self._broken is not None:
            raise self._broken

    async def _end(self, dispatch: "Dispatch", tasks: Sequence[asyncio.Future[Any]]) -> None:
        self._stopping = True
        dispatch.shut()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._asked = {}
        await self._end_all()
        # A ticket that was claimed in the last moment comes up, and is put back.
        patience = time.monotonic() + LAST_WORDS_SECONDS
        while not dispatch.is_idle and time.monotonic() < patience:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(dispatch.stop)
        await self._last(self.state.leave(self.worker.id))

    async def _last(self, words: Awaitable[Any]) -> None:
        """Written if that can be done soon; else others find out."""
        if self._broken is None:
            await words
            return
        with contextlib.suppress(TimeoutError, EnvwrightError):
            await asyncio.wait_for(words, LAST_WORDS_SECONDS)

    # What runs

    async def perform(self, ticket: str) -> None:
        """One run of a job, from claim to what is written of it."""
        self._performing += 1
        try:
            await self._perform(ticket)
        except Exception as error:  # noqa: BLE001 - the worker's loop
            self._break(error)
        finally:
            self._performing -= 1
            self._wake.set()

    async def _perform(self, ticket: str) -> None:
        worker = self.worker.id
        if self._stopping:
            await self._last(self.state.put_back([ticket]))
            return
        job = await self.state.claim(ticket, worker)
        if job is None or worker != self.worker.id:
            return
        task = asyncio.ensure_future(self._handle(job))
        running = self._running[ticket] = Running(job, task)
        try:
            await asyncio.wait({task})
            # If others took this worker for dead, they have its jobs: nothing is written.
            if worker == self.worker.id:
                await self._settle(running, worker)
        finally:
            del self._running[ticket]

    async def _settle(self, running: Running, worker: str) -> None:
        job, task = running.job, running.task
        if task.cancelled() and not running.cancelled:
            await self._last(self.state.give_back(job, worker))
            return
        result = Cancel("cancelled while it ran") if task.cancelled() else task.result()
        try:
            await self.state.settle(job, worker, result)
        except EnvwrightError:
            raise
        except Exception as error:  # noqa: BLE001 - the worker's loop
            await self.state.settle(job, worker, self._failed(job, error))

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
            return self._failed(job, error)

    def _failed(self, job: Job, error: Exception) -> Fail:
        words = f"{type(error).__name__}: {error}"
        self.failures.append(f"{job.kind} {job.id[:40]}: {words}")
        return Fail(words)

    def _break(self, error: Exception) -> None:
        self._broken = self._broken or error
        self._wake.set()

    async def _end_all(self) -> None:
        """End what runs; each writes what it has to before this returns."""
        ended: set[asyncio.Task[Result]] = set()
        while self._performing:
            tasks = {running.task for running in self._running.values()}
            for task in tasks - ended:
                task.cancel()
            ended |= tasks
            await asyncio.sleep(0.01)

    # Chores

    async def _beat(self, dispatch: "Dispatch", stop: asyncio.Event, *, drain: bool) -> None:
        felt_at = None
        while not stop.is_set() and self._broken is None:
            self._wake.clear()
            pulse, asked = None, time.monotonic()
            with contextlib.suppress(TimeoutError):
                beat = self.state.beat(self.worker.id)
                pulse = await asyncio.wait_for(beat, self._times.lost_after)
            if pulse is None:
                await self._start_over(dispatch)
                continue
            if felt_at is not None and pulse.now - felt_at > self._times.dead_after / 2:
                # The database was away, or the machine slept: others may be late for it too.
                self._steady_since = pulse.now
            took = time.monotonic() - asked
            felt_at = self._felt_at = pulse.now
            served = await self._served(pulse)
            self._links.felt(pulse)
            self._end_cancelled(pulse)
            await asyncio.to_thread(dispatch.learn, pulse, served)
            if drain and not self._performing and not self._left(pulse, served):
                return
            await self._pause(pulse, took)

    def _end_cancelled(self, pulse: Pulse) -> None:
        named = [each for each in self._running.values() if each.job.id in pulse.cancelled]
        # Once: a second time would cut short what it does to end well.
        ending = [running for running in named if not running.cancelled]
        for running in ending:
            running.cancelled = True
            running.task.cancel()
        for route in {running.job.route for running in ending}:
            self._links.cancelled(route)

    def refuse(self, route: str) -> None:
        """This worker turned out not to be able to serve a route."""
        self._asked[route] = asyncio.get_running_loop().create_future()
        self._asked[route].set_result(False)

    def running_of(self, route: str) -> int:
        return sum(running.job.route == route for running in self._running.values())

    def _left(self, pulse: Pulse, served: Set[str]) -> bool:
        """Whether there is work for this worker, or may be."""
        return any(
            jobs and (route in served or not self._asked[route].done())
            for route, jobs in pulse.left.items()
        )

    async def _pause(self, pulse: Pulse, took: float) -> None:
        busy = bool(self._running or pulse.waiting)
        pause = self._times.busy_beat if busy else self._times.idle_beat
        if pulse.wake_at is not None:
            pause = max(0.02, min(pause, pulse.wake_at - pulse.now))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), pause)
            # Several things that happen at once are one reason to look. Where much waits, a look
            # takes long, and others write too.
            await asyncio.sleep(min(max(0.02, 2 * took), self._times.busy_beat))

    async def _served(self, pulse: Pulse) -> Set[str]:
        """The routes that this worker can serve; finding out takes time, and the beat goes on."""
        for route in self._asked.keys() - pulse.left.keys():
            self._asked.pop(route).cancel()
        for route in pulse.left.keys() - self._asked.keys():
            self._asked[route] = asyncio.ensure_future(self._links.serves(route))
        if any(not task.done() for task in self._asked.values()):
            await asyncio.wait(self._asked.values(), timeout=self._times.busy_beat)
        return {route for route, task in self._asked.items() if task.done() and task.result()}

    async def _start_over(self, dispatch: "Dispatch") -> None:
        """Others took this worker for dead: it ends what it runs, and is another from now on."""
        dispatch.pause()
        self._stopping, self.worker = True, reborn(self.worker)
        self._former.add(self.worker.id)
        await self._end_all()
        await self.state.hello(self.worker)
        dispatch.rename(self.worker)
        self._stopping = False

    async def _reap(self, dispatch: "Dispatch") -> None:
        suspects: frozenset[str] = frozenset()
        while True:
            await asyncio.sleep(self._times.reap)
            worker = self.worker.id
            # What cannot be done now is done the next time; that the store is gone, the beat says.
            with contextlib.suppress(EnvwrightError):
                strange = await self.state.held(worker) - self._worked_on(dispatch)
                lost, suspects = strange & suspects, strange
                await self.state.put_back(sorted(lost))
                dispatch.forget(lost)
                judge = self._felt_at - self._steady_since > self._times.dead_after
                dead, held = await self.state.reap(worker, self._is_gone, judge=judge)
                if dead or held:
                    await self._links.reaped()
                if lost or held:
                    self._wake.set()

    def _is_gone(self, worker: str) -> bool:
        own = worker in self._former and worker != self.worker.id
        return own or self._links.is_gone(worker)

    def _worked_on(self, dispatch: "Dispatch") -> Set[str]:
        return dispatch.begun | self._running.keys()

    async def _prune(self) -> None:
        while True:
            with contextlib.suppress(EnvwrightError):
                await self.state.prune()
            await asyncio.sleep(self._times.prune)


def reborn(worker: Worker) -> Worker:
    place = worker.id.partition("~")[0]
    return replace(worker, id=f"{place}~{secrets.token_hex(3)}")
