"""How much of an environment's misbehaviour is borne, and the count of it."""

from collections import Counter
from dataclasses import dataclass, field, replace

from envwright.probe.scoring import Tried, Try


@dataclass(frozen=True, slots=True)
class Patience:
    reply_seconds: float = 10.0
    """For one reply to be scored."""
    first_seconds: float = 20.0
    """For the first one in a process: what a reward reads once, it reads then."""
    episode_seconds: float = 30.0
    total_seconds: float = 120.0
    """For all that one scorer is asked for."""
    culprits: int = 8
    """Tries that ended their process: after so many nothing more is tried."""
    of_a_reply: int = 3
    """The same for one reply, which is then not tried on further tasks."""
    at_first: int = 2
    """The same as long as no reply was survived."""
    lost_seconds: float = 60.0
    """For all replies that ended their process together, and for starting others instead."""

    def with_programs(self) -> "Patience":
        """Where scoring runs programs: one that does not end has a limit of the environment's."""
        return replace(
            self,
            reply_seconds=PROGRAMS * self.reply_seconds,
            first_seconds=PROGRAMS * self.reply_seconds + self.first_seconds,
            total_seconds=2 * self.total_seconds,
            lost_seconds=2 * self.lost_seconds,
        )


PROGRAMS = 7
"""A minute is what environments allow a program; a reply's time is a bit more than that then."""
PATIENT = Patience()


@dataclass(slots=True)
class Toll:
    """What ended replies have cost so far, in all processes of an environment together."""

    culprits: dict[Try, Tried] = field(default_factory=dict[Try, Tried])
    by_reply: Counter[str] = field(default_factory=Counter[str])
    lost_seconds: float = 0.0
    survived: bool = False
    """Whether any reply was."""

    @property
    def count(self) -> int:
        return self.by_reply.total()

    def charge(self, culprit: Try, tried: Tried) -> None:
        self.culprits.setdefault(culprit, tried)
        self.by_reply[culprit.reply] += 1

    def too_much(self, patience: Patience) -> str | None:
        """Why no more is borne, in words."""
        if not self.survived and self.count >= patience.at_first:
            return f"each of the first {self.count} replies ended its process: no more were tried"
        if self.count >= patience.culprits:
            return f"{self.count} replies ended its process: no more were tried"
        if self.lost_seconds >= patience.lost_seconds:
            return (
                f"over {patience.lost_seconds:g} s went by with {self.count} replies that "
                "ended its process: no more were tried"
            )
        return None


@dataclass(slots=True)
class Strikes:
    """What has gone wrong so far for one scorer, against what is borne."""

    patience: Patience
    toll: Toll = field(default_factory=Toll)
    spent_seconds: float = 0.0
    lost: str | None = None
    """Why no process can be had any more."""

    def is_barred(self, asked: Try) -> bool:
        return self.toll.by_reply[asked.reply] >= self.patience.of_a_reply

    @property
    def stopped(self) -> str | None:
        if self.lost is not None:
            return self.lost
        if (why := self.toll.too_much(self.patience)) is not None:
            return why
        if self.spent_seconds >= self.patience.total_seconds:
            return f"scoring took over {self.patience.total_seconds:g} s: no more was tried"
        return None
