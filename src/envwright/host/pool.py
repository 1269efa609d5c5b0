"""As many host processes of one revision as the work needs.

Calls share processes until one dies under several of them; whoever asks again then
passes `isolated=True` and gets a process to itself, so that the culprit shows and its
neighbours are not charged. A dead process is replaced by a clean one.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from envwright.host.process import NO_LIMITS, HostDied, HostProcess
from envwright.record import Json

Start = Callable[[], Awaitable[HostProcess]]

SPREAD = 4
"""Calls in every process before another is started."""
ALONE_AT_ONCE = 2


class Pool:
    def __init__(self, start: Start, most: int = 2) -> None:
        self._start = start
        self._most = most
        self._shared: list[HostProcess] = []
        self._alone: list[HostProcess] = []
        self._starting: asyncio.Task[HostProcess] | None = None
        self._alone_slots = asyncio.Semaphore(ALONE_AT_ONCE)
        self._closed = False
        self.restarts = 0

    async def call(
        self,
        name: str,
        args: Json,
        *,
        seconds: float,
        patience: Mapping[str, float] = NO_LIMITS,
        item_seconds: float = math.inf,
        isolated: bool = False,
    ) -> Any:
        def ask(host: HostProcess) -> Awaitable[Any]:
            return host.call(
                name, args, seconds=seconds, patience=patience, item_seconds=item_seconds
            )

        if not isolated:
            return await ask(await self._pick())
        async with self._alone_slots:
            await self._drop_spent()
            host = next((host for host in self._alone if not host.pending), None)
            if host is None:
                host = await self._open()
                self._alone.append(host)
            return await ask(host)

    async def _pick(self) -> HostProcess:
        """The least busy process; a first one is waited for, a further one is not."""
        await self._drop_spent()
        fresh = [host for host in self._shared if not host.retired]
        if not fresh:
            return await asyncio.shield(self._begin())
        least = min(fresh, key=lambda host: len(host.pending))
        if len(least.pending) >= SPREAD and len(fresh) < self._most:
            self._begin()
        return least

    def narrow(self) -> None:
        """From now on one process serves all who share one, and what it remembers is told to
        all of them."""
        self._most = 1
        for host in self._shared[1:]:
            host.retire()

    def _begin(self) -> asyncio.Task[HostProcess]:
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._add())
            # A further process that does not start is no loss; a first one is awaited.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._starting

    async def _add(self) -> HostProcess:
        host = await self._open()
        self._shared.append(host)
        return host

    async def _open(self) -> HostProcess:
        """A process, unless the pool is closed: then nothing would ever end it."""
        if self._closed:
            raise closed()
        host = await self._start()
        if self._closed:
            await host.close()
            raise closed()
        return host

    async def _drop_spent(self) -> None:
        """Let go of the dead, and of the retired once they are idle."""

        def is_spent(host: HostProcess) -> bool:
            return host.dead is not None or (host.retired and not host.pending)

        spent = [host for host in [*self._shared, *self._alone] if is_spent(host)]
        # Out of the lists before anything is awaited: others let go of them meanwhile.
        self._shared = [host for host in self._shared if host not in spent]
        self._alone = [host for host in self._alone if host not in spent]
        self.restarts += len(spent)
        for host in spent:
            await host.close()

    async def close(self) -> int:
        """End every process for good; how many were running."""
        self._closed = True
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        hosts = [*self._shared, *self._alone]
        self._shared.clear()
        self._alone.clear()
        running = sum(host.dead is None for host in hosts)
        await asyncio.gather(*(host.close() for host in hosts))
        return running


def closed() -> HostDied:
    return HostDied("its hosts were closed", phase=None, alone=False, tail="")


__all__ = ["HostDied", "Pool", "Start"]
