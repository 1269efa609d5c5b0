"""A workload file: which models a sweep asks, how wide each is, and how its provider behaves.

Shared by the provider, which lives in a process of its own, and by what measures it.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "workloads"


@dataclass(frozen=True)
class Limited:
    """At the end of every so many seconds the provider refuses for this long."""

    every: float
    last: float

    def wait(self, seconds: float) -> float:
        """How long until it answers again, so many seconds after the first call."""
        into = seconds % self.every
        return self.every - into if into >= self.every - self.last else 0.0

    def pauses(self) -> Iterator[tuple[float, float]]:
        for n in count(1):
            yield n * self.every - self.last, n * self.every


@dataclass(frozen=True)
class Load:
    """What one model is asked."""

    name: str
    limit: int
    tasks: int
    trials: int
    limited: Limited | None = None

    def bound(self, work_seconds: float) -> float:
        """No schedule ends earlier: work divided by the limit, and the time it is refused."""
        needed = work_seconds / self.limit
        for begins, ends in self.limited.pauses() if self.limited else ():
            if needed <= begins:
                break
            needed += ends - begins
        return needed


@dataclass(frozen=True)
class Workload:
    environment: str
    least_seconds: float
    most_seconds: float
    models: tuple[Load, ...]
    finished: int = 0

    def seconds_of(self, asked: bytes) -> float:
        """How long an answer takes: chance, but the same for the same words."""
        chance = int.from_bytes(hashlib.sha256(asked).digest()[:6]) / 2**48
        return self.least_seconds + (self.most_seconds - self.least_seconds) * chance


def read_workload(name: str) -> Workload:
    said: dict[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    least, most = said.pop("seconds")
    loads: list[Load] = []
    for each in said.pop("models"):
        limited = Limited(**each.pop("limited")) if "limited" in each else None
        loads.append(Load(limited=limited, **each))
    return Workload(least_seconds=least, most_seconds=most, models=tuple(loads), **said)
