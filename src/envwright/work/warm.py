"""`Warm`: hosts of the environments that were served last, kept for the trials to come.

Parts that can be served by the same hosts share them, and however many ask at once load them
once. One that is in use is never closed; of the idle ones a few are kept, for a while. A load
that failed is told to all who wait and to whoever asks soon after, then tried again: a broken
environment is not loaded for each of a thousand trials, nor given up for ever.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from envwright.errors import Interrupted, Unserved
from envwright.host import Loaded
from envwright.record import digest
from envwright.trial.part import Part, refusal_of

KEEP = 4
"""Idle ones."""
IDLE_SECONDS = 600.0
FAILED_SECONDS = 60.0
"""How long a failure is remembered."""

Load = Callable[[Part], Awaitable[Loaded]]


@dataclass(eq=False, slots=True)
class Place:
    """One environment that is loaded, being loaded, or did not load."""

    loading: asyncio.Future[Loaded]
    leases: int = 0
    """Who uses it or waits for it."""
    used_at: float = 0.0
    """When it was last used, or failed to load."""
    ended: bool = False
    lent: bool = False
    """Whoever loaded it closes it."""

    @property
    def failed(self) -> bool:
        done = self.loading.done()
        return done and (self.loading.cancelled() or self.loading.exception() is not None)

    @property
    def idle(self) -> bool:
        return self.leases == 0 and not self.failed

    def result(self) -> Loaded:
        if self.loading.cancelled():
            raise Interrupted("this worker is ending")
        if (error := self.loading.exception()) is not None:
            # One error is told to many: each shows where it was told alone.
            raise error.with_traceback(None)
        return self.loading.result()


class Warm:
    def __init__(
        self,
        load: Load,
        *,
        keep: int = KEEP,
        idle_seconds: float = IDLE_SECONDS,
        failed_seconds: float = FAILED_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._keep = keep
        self._idle_seconds = idle_seconds
        self._failed_seconds = failed_seconds
        self._now = now
        self._places: dict[str, Place] = {}
        self._closing: set[asyncio.Task[int]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """Those that are loaded, being loaded or known not to load."""
        return len(self._places)

    @asynccontextmanager
    async def use(self, part: Part) -> AsyncGenerator[Loaded]:
        """The environment of a part, loaded; it stays so as long as this is entered."""
        key = key_of(part)
        place = self._place(key, part)
        place.leases += 1
        try:
            # Whoever stops waiting leaves the load to the others.
            await asyncio.wait([place.loading])
            loaded = place.result()
            check(part, loaded)
            yield loaded
        finally:
            place.leases -= 1
            if not place.failed:
                place.used_at = self._now()
            if not (place.leases or place.ended or self._places.get(key) is place):
                self._let_go(place)
            self.tidy()

    def lend(self, part: Part, loaded: Loaded) -> None:
        """Use one that is loaded already, and leave it to whoever lends it to close it."""
        key = key_of(part)
        arrived: asyncio.Future[Loaded] = asyncio.get_running_loop().create_future()
        arrived.set_result(loaded)
        former = self._places.get(key)
        self._places[key] = Place(arrived, used_at=self._now(), lent=True)
        # One in use is ended by the last of its users.
        if former is not None and not former.leases:
            self._let_go(former)
        self.tidy()

    async def drop(self, part: Part) -> int:
        """Close the hosts of a part, unless they are in use; how many sandboxes that ended."""
        key = key_of(part)
        place = self._places.get(key)
        if place is None or not place.idle:
            return 0
        return await self._end(self._places.pop(key))

    async def close(self) -> None:
        """Close all of them, also those in use."""
        if self._timer is not None:
            self._timer.cancel()
        while self._places:
            self._let_go(self._places.popitem()[1])
        await asyncio.gather(*self._closing, return_exceptions=True)

    def tidy(self) -> None:
        """Let go of idle ones beyond those that are kept, and of what is too old."""
        now = self._now()
        idle = [(key, place) for key, place in self._places.items() if place.idle]
        newest = sorted(idle, key=lambda each: each[1].used_at, reverse=True)
        for rank, (key, place) in enumerate(newest):
            abandoned = not place.loading.done()
            if abandoned or rank >= self._keep or now - place.used_at >= self._idle_seconds:
                self._let_go(self._places.pop(key))
        for key in [key for key, place in self._places.items() if self._is_forgotten(place)]:
            del self._places[key]
        self._wake_later()

    def _wake_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        waiting = [place.used_at for place in self._places.values() if place.idle]
        if waiting:
            pause = max(0.0, min(waiting) + self._idle_seconds - self._now())
            self._timer = asyncio.get_running_loop().call_later(pause, self.tidy)

    def _is_forgotten(self, place: Place) -> bool:
        return place.failed and self._now() - place.used_at >= self._failed_seconds

    def _place(self, key: str, part: Part) -> Place:
        place = self._places.get(key)
        if place is None or self._is_forgotten(place):
            place = Place(asyncio.ensure_future(self._load_checked(part)))
            self._places[key] = place
        return place

    async def _load_checked(self, part: Part) -> Loaded:
        try:
            loaded = await self._load(part)
            try:
                check(part, loaded)
            except BaseException:
                await loaded.pool.close()
                raise
            return loaded
        finally:
            # Of a failure too: it is remembered from when it is known.
            if (place := self._places.get(key_of(part))) is not None:
                place.used_at = self._now()

    def _let_go(self, place: Place) -> None:
        if not place.lent:
            self._end(place)

    def _end(self, place: Place) -> asyncio.Task[int]:
        """End one that is out of the list: whoever comes meanwhile loads anew."""
        place.ended = True
        task = asyncio.ensure_future(end(place))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return task


def check(part: Part, loaded: Loaded) -> None:
    if (why := refusal_of(part, loaded)) is not None:
        raise Unserved(f"this worker cannot serve {part.title}: {why}")


async def end(place: Place) -> int:
    """End a place's hosts; how many there were."""
    if not place.loading.done():
        place.loading.cancel()
    await asyncio.wait([place.loading])
    return 0 if place.failed else await place.loading.result().pool.close()


def key_of(part: Part) -> str:
    """Of all that makes hosts what they are; parts with the same can share them."""
    plan, limits = part.plan, part.limits
    egress = plan.egress.model_dump(mode="json") if plan.egress else None
    return digest(
        [
            *(part.revision, part.title, part.args, str(part.venv), plan.venv, part.sandbox),
            *(plan.prepared, egress, plan.secrets, limits.turns, limits.stall_seconds),
        ]
    )
