"""`Workshop`: one process that works on the queues, with all that its jobs need.

It serves the sweeps that it can, keeps warm hosts for the environments that it served last,
and shares what each provider said of its limits with the workers beside it.
"""

import asyncio
import math
import os
import resource
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from envwright.agent import AgentKind, Assignment
from envwright.budget import Budget, Spending
from envwright.errors import Broken, Fault, Unserved, UsageError
from envwright.gateway import Gateway
from envwright.host import Loaded
from envwright.queue.durable import DurableEngine, Links
from envwright.queue.state import Pulse, Worker
from envwright.store import Store
from envwright.store import sweep as sweeps
from envwright.trial import TrialSpec
from envwright.trial.part import Cast, Part
from envwright.trial.run import Bench
from envwright.trial.seat import seat_all
from envwright.work import sweep as sweep_work
from envwright.work import trial as trial_work
from envwright.work.trial import Order, TrialWork
from envwright.work.warm import KEEP, Warm

NEWS_SECONDS = 1.2
"""How long a pulse is good for: what one worker was told holds for all within two seconds."""
GAP_SECONDS, CATCH_UP_SECONDS = 2.0, 0.8

if TYPE_CHECKING:
    from envwright.store.state import JobStore

MOST_FILES = 65536


@dataclass(frozen=True, slots=True)
class Tools:
    """What this machine can do, as whoever composes the worker has it."""

    load: Callable[[Part], Awaitable[Loaded]]
    cast: Callable[[Part], Awaitable[Cast]]
    unserved: Callable[[Part], Awaitable[str | None]]
    say: Callable[[str], None]
    store_budget: Budget = field(default_factory=Budget)


class Workshop:
    def __init__(
        self,
        store: Store,
        state: "JobStore",
        gateway: Gateway,
        tools: Tools,
        worker: Worker,
        sweep: str | None = None,
    ) -> None:
        """With `sweep` it serves that one alone."""
        from envwright.queue.dispatch import Dispatch  # noqa: PLC0415 - DBOS, when work begins

        self._store, self._state, self._gateway, self._tools = store, state, gateway, tools
        self._sweep = sweep
        self._parts: dict[str, Sequence[Part]] = {}
        self._casts: dict[tuple[str, int], Cast] = {}
        self._pulse: Pulse | None = None
        self._felt_at = 0.0
        self._telling: set[asyncio.Task[None]] = set()
        self.warm = Warm(tools.load)
        links = Links(
            serves=self.serves,
            felt=self.felt,
            is_gone=is_gone,
            cancelled=self.cancelled,
            reaped=self.reaped,
        )
        self.engine = DurableEngine(state, lambda: Dispatch(store.queue_engine), worker, links)
        gateway.crowded = self.crowded

    async def run(self, stop: asyncio.Event, *, drain: bool = False) -> None:
        allow_files()
        handlers = {
            trial_work.KIND: TrialWork(
                store=self._store,
                worker=lambda: self.engine.worker.id,
                bench=self.bench,
                estimated=self.estimated,
                cancel=self.engine.cancel,
                refuse=self.refuse,
                store_budget=self._tools.store_budget,
            ),
            sweep_work.KIND: sweep_work.SweepWork(self._store, self._state),
        }
        try:
            await self.engine.run(handlers, stop, drain=drain)
        finally:
            for task in self._telling:
                task.cancel()
            await asyncio.gather(*self._telling, return_exceptions=True)
            await self.warm.close()
            # Whoever asks through the same door after it works alone.
            self._gateway.rely(math.inf)

    # What a trial needs

    async def part(self, sweep: str, n: int) -> Part:
        if sweep not in self._parts:
            self._parts[sweep] = await self._store.read_soon(sweeps.parts_of, sweep)
        return self._parts[sweep][n]

    async def estimated(self, order: Order, agent: str) -> Spending:
        part = await self.part(order.sweep, order.part)
        return part.estimates.get(agent, Spending())

    @asynccontextmanager
    async def bench(self, order: Order, spec: TrialSpec) -> AsyncGenerator[Bench]:
        part = await self.part(order.sweep, order.part)
        place = (order.sweep, order.part)
        if place not in self._casts:
            self._casts[place] = await self._tools.cast(part)
        async with self.warm.use(part) as loaded:
            yield bench_of(part, self._casts[place], loaded, self._gateway, spec)

    # Whom it serves

    async def serves(self, route: str) -> bool:
        if self._sweep is not None:
            return route == self._sweep
        parts = await self._store.read_soon(sweeps.parts_of, route)
        for part in parts:
            if (why := await self._tools.unserved(part)) is not None:
                self._tools.say(f"sweep {route} is not served here: {part.title}: {why}")
                return False
        return await self.warm_up(route, parts)

    async def warm_up(self, route: str, parts: Sequence[Part]) -> bool:
        """Load first, claim then: what waits for its host here might run elsewhere meanwhile.

        As many as would be kept; what comes after them is loaded when its turn comes.
        """
        for part in parts:
            if len(self.warm) >= KEEP:
                break
            try:
                async with self.warm.use(part):
                    pass
            except Unserved as why:
                self._tools.say(f"sweep {route} is not served here: {why}")
                return False
            except (Broken, UsageError):
                # An outcome, like any other: of the trials that need it.
                continue
        return True

    def refuse(self, sweep: str, why: Unserved) -> None:
        """What was loaded here is not what was planned."""
        if self._sweep is not None:
            raise why
        self._tools.say(f"sweep {sweep} is not served here: {why}")
        self.engine.refuse(sweep)

    # What it shares with other workers

    def crowded(self, model: str, seconds: float, fault: Fault) -> None:
        self._tell(self.engine.complain(model, seconds, fault))

    def felt(self, pulse: Pulse) -> None:
        """Apply to the gateway what is known of each queue."""
        before, self._pulse = self._pulse, pulse
        self._gateway.rely(NEWS_SECONDS)
        gap, self._felt_at = time.monotonic() - self._felt_at, time.monotonic()
        for name, health in pulse.queues.items():
            if before is not None and gap > GAP_SECONDS:
                # The store was away: what others were told meanwhile is about to be known.
                self._gateway.hold(name, CATCH_UP_SECONDS)
            self._gateway.set_limit(name, health.limit)
            if health.parked_until > pulse.now:
                self._gateway.hold(name, health.parked_until - pulse.now)
            elif before and name in before.queues and before.queues[name].parked_until > pulse.now:
                # A park that ends before its time was ended by a person.
                self._gateway.release(name)

    def cancelled(self, route: str) -> None:
        self._tell(self.clear(route))

    async def clear(self, route: str) -> None:
        """End the sandboxes of a sweep once nothing of it runs here."""
        while self.engine.running_of(route):
            await asyncio.sleep(0.05)
        killed = 0
        for part in self._parts.get(route, ()):
            killed += await self.warm.drop(part)
        if killed:
            await self._store.write_soon(sweeps.add_killed, route, killed)

    async def reaped(self) -> None:
        for sweep in await sweep_work.settle_orphans(self._store, self._state):
            self._tools.say(
                f"sweep {sweep} is stopped, for {sweep_work.GONE}: `envwright sweep resume {sweep}`"
            )
        if self._sweep is not None:
            await sweep_work.adopt(self._sweep, self._store, self._state)

    def _tell(self, telling: Awaitable[None]) -> None:
        task = asyncio.ensure_future(telling)
        self._telling.add(task)
        task.add_done_callback(self._told)

    def _told(self, task: asyncio.Task[None]) -> None:
        self._telling.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._tools.say(f"warning: {error}")


def bench_of(part: Part, cast: Cast, loaded: Loaded, gateway: Gateway, spec: TrialSpec) -> Bench:
    agent = spec.agent
    script = cast.scripts.get(agent.subject or "") if agent.kind is AgentKind.SCRIPTED else None
    seating = seat_all(loaded.environment, part.seat, cast.seats, cast.judge)
    return Bench(
        hosts=loaded.pool,
        gateway=gateway,
        model=cast.models.get(agent.subject or "") if agent.kind.needs_model else None,
        judge=cast.judge,
        limits=part.limits,
        assignment=Assignment(
            agent=agent, turns=part.limits.turns, wall_seconds=part.limits.wall_seconds
        ),
        replies=script.replies_for(spec.index, spec.key) if script else [],
        played=seating.played,
    )


def check_releases(store: Store, release: str) -> None:
    """Refuse to work beside another release: what it queued may mean something else here."""
    for sweep in store.read(sweeps.under_way):
        if sweep.release != release:
            raise UsageError(
                f"sweep {sweep.id} was submitted by envwright {sweep.release}, "
                f"and this is {release}",
                hint=f"install envwright=={sweep.release}, or `envwright sweep cancel {sweep.id}`",
            )


def allow_files() -> None:
    """As many open files as this process may have: a trial takes several connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def worker_name() -> str:
    """This process, so that others can tell whether it is still there; never the same twice."""
    return f"{worker_place()}~{secrets.token_hex(3)}"


def worker_place() -> str:
    return f"{os.uname().nodename}:{os.getpid()}:{started_ticks(os.getpid())}"


def is_gone(worker: str) -> bool:
    """Whether a worker is known not to run any more; of another machine nothing is known."""
    name = worker.partition("~")[0]
    node, pid, ticks = name.rsplit(":", 2)
    return node == os.uname().nodename and started_ticks(int(pid)) != ticks


def started_ticks(pid: int) -> str:
    """When a process began, in the kernel's ticks: a reused pid is another process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
