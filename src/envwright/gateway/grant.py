"""`Grant`: what one token may ask for, and what was asked with it.

A token is worth nothing outside the sandbox it was made for, and nothing after its
trial. The `Ledger` is told of every call as it ends, so that spending survives a crash.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from envwright.budget import Budget, Spending
from envwright.errors import ProviderError
from envwright.model import Model
from envwright.trace import ModelCall

ENVIRONMENT = "environment"
"""The tag of calls that environment code makes itself."""


class Ledger(Protocol):
    def record(self, trial: str, attempt: int, call: ModelCall, /) -> None: ...


class NoLedger:
    """For calls that belong to no trial."""

    def record(self, trial: str, attempt: int, call: ModelCall, /) -> None:
        return None


@dataclass(slots=True)
class Exchange:
    """The last messages to and from one seat: what is left of a conversation after a crash."""

    asked: list[Any]
    said: list[Any] = field(default_factory=list[Any])


@dataclass(slots=True)
class Grant:
    trial: str
    attempt: int
    seat_model: Model | None
    """Whom the agent's seats may ask."""
    environment_model: Model | None = None
    """Whom environment code may ask: the judge's role."""
    played: Mapping[str, Model] = field(default_factory=dict[str, Model])
    """Seats that others than the agent play, and whom they ask."""
    budget: Budget = Budget()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    spent: Spending = Spending()
    failures: dict[tuple[str, bytes], ProviderError] = field(
        default_factory=dict[tuple[str, bytes], ProviderError]
    )
    """Requests that the provider failed for good; the same one answered later is forgiven."""
    unserved: str | None = None
    """What was asked of a model that nobody may ask here, in words."""
    exchanges: dict[str, Exchange] = field(default_factory=dict[str, Exchange])
    closed: bool = False

    @property
    def failure(self) -> ProviderError | None:
        """The last request that the provider never answered."""
        return next(reversed(self.failures.values()), None)

    @property
    def answered(self) -> bool:
        """Whether any call of it was: from then on there is something to lose."""
        return any(made.status == 200 and made.error is None for made in self.calls)

    def model_for(self, seat: str) -> Model | None:
        if seat == ENVIRONMENT:
            return self.environment_model
        return self.played.get(seat, self.seat_model)

    def is_agent(self, seat: str) -> bool:
        """Whether the agent speaks there, rather than the world that it is measured in."""
        return seat != ENVIRONMENT and seat not in self.played
