"""`RetryPolicy`: how patient a trial is with its model's provider."""

from typing import Self

from pydantic import Field, model_validator

from envwright.record import Record


class RetryPolicy(Record):
    """`[models."provider/model".retry]`"""

    attempts: int = Field(default=3, ge=1)
    """Attempts that a trial gets when the provider fails."""
    first_seconds: float = Field(default=1.0, gt=0)
    """The first pause where the provider asks for none; each is twice the one before."""
    longest_seconds: float = Field(default=300.0, gt=0)
    """No pause of ours is longer."""
    parks: int = Field(default=100, ge=0)
    """How often a trial is sent away for a while, at no cost to its attempts."""
    quota_seconds: float = Field(default=900.0, gt=0)
    """The pause when nothing is left to pay with."""

    @model_validator(mode="after")
    def check(self) -> Self:
        if self.longest_seconds < self.first_seconds:
            raise ValueError(
                f"longest_seconds is {self.longest_seconds:g}, "
                f"less than first_seconds, which is {self.first_seconds:g}"
            )
        return self
