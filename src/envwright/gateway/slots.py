"""`Slots`: so many at a time, and how many may change while they are taken.

First come, first served. Fewer slots take none away: who has one keeps it to the end.
"""

import asyncio
from collections import deque
from contextlib import suppress


class Slots:
    def __init__(self, limit: int | None = None) -> None:
        """Without a limit there is no end of them."""
        self._limit = limit
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int | None:
        return self._limit

    @property
    def taken(self) -> int:
        return self._taken

    def resize(self, limit: int) -> None:
        self._limit = limit
        self._hand_out()

    async def __aenter__(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                with suppress(ValueError):
                    self._waiting.remove(turn)
            else:
                # Its turn came and it went away, both at once.
                self._give_back()
            raise

    async def __aexit__(self, *error: object) -> None:
        self._give_back()

    def _give_back(self) -> None:
        self._taken -= 1
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and (self._limit is None or self._taken < self._limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
