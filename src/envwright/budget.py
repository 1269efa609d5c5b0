"""`Budget`: caps on a sweep, on all that a store holds, and on one trial. Pure.

What a trial may cost is reserved before it starts and settled after it. Against a cap
count what was spent, what is reserved and what the next trial wants: nothing is started
that could overrun it. Who stops: the gateway at a trial's own caps, the queue at the rest.
What it cannot hold is a trial without a cap of its own that costs more than any before it.
"""

from dataclasses import dataclass

from pydantic import Field

from envwright.record import Record


class Spending(Record):
    """What was spent, or may be. A cost that is unknown is None, never zero."""

    tokens: int = 0
    cost_usd: float | None = 0.0
    known_usd: float = 0.0
    """What of the cost is known: a cap holds against it even when the rest is not."""
    wall_seconds: float = 0.0

    def plus(self, tokens: int, cost_usd: float | None, wall_seconds: float = 0.0) -> "Spending":
        known = self.cost_usd is not None and cost_usd is not None
        return Spending(
            tokens=self.tokens + tokens,
            cost_usd=(self.cost_usd or 0.0) + (cost_usd or 0.0) if known else None,
            known_usd=self.known_usd + (cost_usd or 0.0),
            wall_seconds=self.wall_seconds + wall_seconds,
        )


@dataclass(frozen=True, slots=True)
class Start:
    """It fits."""


@dataclass(frozen=True, slots=True)
class Wait:
    """It does not fit now; what running trials reserved and do not spend may make room."""

    why: str


@dataclass(frozen=True, slots=True)
class Spent:
    """It will never fit, whatever running trials leave over."""

    why: str


Room = Start | Wait | Spent


class Budget(Record):
    """Caps; None is no cap."""

    usd: float | None = Field(default=None, gt=0)
    """Dollars; refused where the price of a model is not known."""
    tokens: int | None = Field(default=None, gt=0)
    """Tokens in and out."""
    wall_seconds: float | None = Field(default=None, gt=0)
    """Seconds since the start; what runs by then is finished."""
    trial_usd: float | None = Field(default=None, gt=0)
    """Dollars of one trial: beyond them it is scored as it stands."""
    trial_tokens: int | None = Field(default=None, gt=0)
    """Tokens of one trial: beyond them it is scored as it stands."""

    @property
    def is_in_usd(self) -> bool:
        """Whether a price that is not known would make a cap of it meaningless."""
        return self.usd is not None or self.trial_usd is not None

    def of_trial(self) -> "Budget | None":
        """The caps on one trial, as a budget of its own."""
        if self.trial_usd is None and self.trial_tokens is None:
            return None
        return Budget(usd=self.trial_usd, tokens=self.trial_tokens)

    def under(self, other: "Budget | None") -> "Budget":
        """The caps of the other where it has them, else these."""
        theirs = other.model_dump(exclude_none=True) if other else {}
        return self.model_copy(update=theirs)

    def exceeded(self, spent: Spending) -> str | None:
        """Which cap is reached, in words; None while there is room."""
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"{spent.tokens} of {self.tokens} tokens are spent"
        spent_usd = spent.known_usd if spent.cost_usd is None else spent.cost_usd
        if self.usd is not None and spent_usd >= self.usd:
            return f"${spent_usd:.4f} of ${self.usd:.4f} is spent"
        if self.wall_seconds is not None and spent.wall_seconds >= self.wall_seconds:
            return f"{spent.wall_seconds:.0f} of {self.wall_seconds:.0f} seconds are over"
        return None

    def room(self, spent: Spending, reserved: Spending, wanted: Spending) -> Room:
        """Whether a trial that wants so much may start, beside what running ones reserved.

        Time is nobody's to reserve: it runs for all trials alike, until it is over. Under a cap
        in dollars an unknown cost starts nothing: `reservation` and `settled` leave none.
        """
        if (reached := self.exceeded(spent)) is not None:
            return Spent(reached)
        rooms: list[Room] = []
        if self.tokens is not None:
            rooms.append(
                room_of(self.tokens, spent.tokens, reserved.tokens, wanted.tokens, "{:.0f} tokens")
            )
        if self.usd is not None:
            costs = spent.cost_usd, reserved.cost_usd, wanted.cost_usd
            if None in costs:
                return Spent(f"a cost is not known, so ${self.usd:.4f} cannot hold")
            before, held, more = (cost or 0.0 for cost in costs)
            rooms.append(room_of(self.usd, before, held, more, "${:.4f}"))
        hard = [room for room in rooms if isinstance(room, Spent)]
        soft = [room for room in rooms if isinstance(room, Wait)]
        return next(iter([*hard, *soft]), Start())


def room_of(cap: float, spent: float, reserved: float, wanted: float, unit: str) -> Room:
    """The answer for one unit. The cap's own amount may be spent, not more."""
    # To a billionth: three tenths of a dollar are three times a tenth.
    if round(spent + reserved + wanted, 9) <= cap:
        return Start()
    left, needs = unit.format(cap - spent), unit.format(wanted)
    if round(spent + wanted, 9) <= cap:
        held = unit.format(reserved)
        return Wait(f"a trial may take {needs}; of the {left} left {held} are reserved")
    whole = unit.format(cap)
    return Spent(f"{left} of {whole} are left, and a trial may take {needs}")


def reservation(cap: Budget | None, largest: Spending | None, estimated: Spending) -> Spending:
    """What is set aside for a trial before it starts.

    Its own cap; else the largest that a trial of its agent took so far in the sweep; else the
    estimate. A trial that took nothing says nothing of the next: it broke before its first call.
    """
    own, seen = cap or Budget(), largest or Spending()
    cost = seen.cost_usd or estimated.cost_usd
    if cost is not None:
        # Part of the largest may be unknown: its known part is the least that it took.
        cost = max(cost, seen.known_usd)
    cost = cost if own.usd is None else own.usd
    return Spending(
        tokens=own.tokens or seen.tokens or estimated.tokens,
        cost_usd=cost,
        known_usd=cost or 0.0,
    )


def settled(reserved: Spending, spent: Spending) -> Spending:
    """What an ended trial counts for: what it spent; where that is not known, what was reserved."""
    if spent.cost_usd is not None or reserved.cost_usd is None:
        return spent
    cost = max(spent.known_usd, reserved.cost_usd)
    return spent.model_copy(update={"cost_usd": cost, "known_usd": cost})
