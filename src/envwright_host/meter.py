"""What one item of a call took: its time, and what it wrote.

Writing is counted by the kernel for this process alone, whatever it wrote to: a program that
a reward starts and that prints is not seen here.
"""

import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from envwright_host.server import Phase

Item = dict[str, Any]


class Meter:
    def __init__(self) -> None:
        self._counters: int | None = None
        with contextlib.suppress(OSError):
            self._counters = os.open("/proc/self/io", os.O_RDONLY | os.O_CLOEXEC)

    async def measured(
        self, items: list[Item], answer: Callable[[Item], Awaitable[Item]], phase: Phase
    ) -> list[Item]:
        """Every item's answer in turn, and what it took; where it is at is told before each."""
        answers: list[Item] = []
        for at, item in enumerate(items):
            phase("scoring", at)
            written, busy, begun = self.written(), time.process_time(), time.perf_counter()
            answered = await answer(item)
            seconds = time.perf_counter() - begun
            took = {
                "seconds": seconds,
                "cpu_seconds": time.process_time() - busy,
                "written_bytes": self.written() - written,
            }
            answers.append({**answered, "took": took})
        phase("scoring")
        return answers

    def written(self) -> int:
        """Bytes since it began; always 0 where the kernel does not say."""
        if self._counters is None:
            return 0
        try:
            lines = os.pread(self._counters, 512, 0).split(b"\n")
            return int(lines[1].removeprefix(b"wchar:"))
        except (OSError, ValueError, IndexError):
            return 0
