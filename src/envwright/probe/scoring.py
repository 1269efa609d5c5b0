"""`Scorer`: replies in, what they earned out. Probes see nothing else of an environment's code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Try:
    """A reply to a task; in an episode it is what the agent says, turn after turn."""

    index: int
    reply: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of it: a reward, or what was in the way of one."""

    reward: float | None
    parts: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    """Each reward by name, without its weight; None when it did not run."""
    problem: str | None = None
    """Scoring raised, or a signal is no number."""
    ended: str | None = None
    """The process ended of it, or was ended because it went on for too long."""
    seconds: float = 0.0


Told = Mapping[Try, Tried]


class Scorer(Protocol):
    async def score(self, tries: Sequence[Try]) -> Told: ...
