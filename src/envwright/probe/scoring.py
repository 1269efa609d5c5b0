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
    in_episode: bool = False
    """The problem came before scoring: the episode itself ended of the reply."""
    ended: str | None = None
    """The process ended of it, or was ended because it went on for too long."""
    late: bool = False
    """It was ended for its time, and did not end by itself."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of its process; 0 where that is not known."""
    written_bytes: int = 0
    """To whatever it was; 0 where that is not known."""
    not_numbers: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a signal returned that is no number, by its name; then there is a problem too."""
    skipped: tuple[str, ...] = ()
    """Signals that were declared and did not run."""


Told = Mapping[Try, Tried]
SLACK = 1e-9


def is_same(one: Tried, other: Tried) -> bool:
    if one.ended is not None or other.ended is not None:
        # Told by another rule; how long something took is not what it earned.
        return True
    if one.reward is None or other.reward is None:
        return one.reward is other.reward
    return abs(one.reward - other.reward) <= SLACK


class Scorer(Protocol):
    """Whatever an environment does, this neither fails nor hangs.

    A try that ended the process, or was ended, says so in `ended`; the others are scored
    in another process. After a few of those, or past its time, a scorer stops.
    """

    async def score(self, tries: Sequence[Try]) -> Told:
        """Each try scored once, also when it is asked for again; what was not tried is missing."""
        ...

    async def again(self, tries: Sequence[Try]) -> list[Tried | None]:
        """Each of them scored anew, in this order; None where it was not tried."""
        ...

    @property
    def stopped(self) -> str | None:
        """Why it tries no more, in words; None as long as it does."""
        ...
