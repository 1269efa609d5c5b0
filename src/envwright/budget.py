"""`Budget`: caps on one trial and on a sweep. Pure: it says whether spending is within a cap.

Who stops: the gateway at a trial's caps, the queue at a sweep's.
"""

from pydantic import Field

from envwright.record import Record


class Spending(Record):
    """What was spent so far. A cost that is unknown is None, never zero."""

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


class Budget(Record):
    """Caps; None is no cap."""

    usd: float | None = Field(default=None, ge=0)
    """Dollars; refused where the price of a model is not known."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens in and out."""
    wall_seconds: float | None = Field(default=None, gt=0)
    """Seconds since the start."""

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
