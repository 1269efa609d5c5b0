"""How much of an environment's misbehaviour is borne, and the count of it."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from envwright.probe.scoring import Try


@dataclass(frozen=True, slots=True)
class Patience:
    reply_seconds: float = 10.0
    """For one reply to be scored."""
    first_seconds: float = 30.0
    """For the first one in a process: what a reward reads once, it reads then."""
    episode_seconds: float = 30.0
    total_seconds: float = 120.0
    """For all that one scorer is asked for."""
    culprits: int = 8
    """Tries that ended their process: after so many nothing more is tried."""
    of_a_reply: int = 3
    """The same for one reply, which is then not tried on further tasks."""


PATIENT = Patience()


@dataclass(slots=True)
class Strikes:
    """What has gone wrong so far, against what is borne."""

    patience: Patience
    now: Callable[[], float] = time.monotonic
    spent_seconds: float = 0.0
    culprits: list[Try] = field(default_factory=list[Try])
    by_reply: Counter[str] = field(default_factory=Counter[str])
    lost: str | None = None
    """Why no process can be had any more."""

    def charge(self, culprit: Try) -> None:
        self.culprits.append(culprit)
        self.by_reply[culprit.reply] += 1

    def is_barred(self, asked: Try) -> bool:
        return self.by_reply[asked.reply] >= self.patience.of_a_reply

    @property
    def stopped(self) -> str | None:
        if self.lost is not None:
            return self.lost
        if len(self.culprits) >= self.patience.culprits:
            return f"{len(self.culprits)} replies ended its process: no more were tried"
        if self.spent_seconds >= self.patience.total_seconds:
            return f"scoring took over {self.patience.total_seconds:g} s: no more was tried"
        return None
