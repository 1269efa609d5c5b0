"""`Base`: what the files of the dialects share: one loaded revision, entered and left.

What is opened for it goes on `stack`, and is closed when it is left.
"""

from contextlib import AsyncExitStack
from typing import Self

from envwright_host import door
from envwright_host.meter import Meter


class Base:
    def __init__(self) -> None:
        self.stack = AsyncExitStack()
        self.meter = Meter()
        self.tired = False
        """Something that all runs share is broken; a fresh process should take over."""

    async def __aenter__(self) -> Self:
        self.stack.push_async_callback(door.Session.close)
        door.carry_tokens()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()
