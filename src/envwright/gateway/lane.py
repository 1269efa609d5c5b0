"""`Lane`: one model's calls in this process. How many at once, and none before it is time.

What one call is told holds for all of them, from the moment it is told: also for those
that wait for a slot, or for a connection.
"""

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field

import aiohttp

from envwright.errors import Fault, ProviderError
from envwright.gateway.slots import Slots

LONGEST_HOLD_SECONDS = 24 * 3600.0
LOOK_AGAIN_SECONDS = 0.1


@dataclass(slots=True)
class News:
    """What other processes say of the providers: until when it is recent enough to go by."""

    good_until: float = math.inf
    """By the monotonic clock; for ever, where there are no others."""


@dataclass(slots=True)
class Lane:
    name: str
    """The model's."""
    news: News = field(default_factory=News)
    slots: Slots = field(default_factory=Slots)
    resume_at: float = 0.0
    """By the monotonic clock."""
    fault: Fault = Fault.RATE
    """Why it is held."""
    released: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def held(self) -> float:
        """Seconds until a call may begin; without recent news, until it is asked again."""
        now = time.monotonic()
        least = 0.0 if now < self.news.good_until else LOOK_AGAIN_SECONDS
        return max(least, self.resume_at - now)

    def hold(self, seconds: float, since: float | None = None) -> None:
        """No call begins earlier; one hold never shortens another."""
        since = time.monotonic() if since is None else since
        self.resume_at = max(self.resume_at, since + min(seconds, LONGEST_HOLD_SECONDS))

    def release(self) -> None:
        self.resume_at = 0.0
        self.released.set()
        self.released = asyncio.Event()

    async def wait(self, patience: float) -> None:
        """Until a call may begin; `ProviderError` when that is too long to wait for."""
        while (seconds := self.held) > 0:
            if seconds > patience:
                failure = ProviderError(
                    f"{self.name} is not asked for another {seconds:.0f} s, as its provider wants",
                    code=self.fault,
                    retry_after_seconds=seconds,
                )
                failure.tries = 0
                raise failure
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.released.wait()


class Held(Exception):
    """The lane was held while a call had no connection yet; nothing of it was sent."""


class HeldBack(aiohttp.ClientRequest):
    """A request that looks once more before its first byte: to connect takes time."""

    lane: Lane | None = None

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        if self.lane is not None and self.lane.held > 0:
            raise Held
        return await super().send(conn)


def held_back_by(lane: Lane) -> aiohttp.ClientMiddlewareType:
    async def look(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        assert isinstance(request, HeldBack)
        request.lane = lane
        return await send(request)

    return look
