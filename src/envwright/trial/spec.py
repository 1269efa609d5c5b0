"""`TrialSpec`: one agent on one task of one revision under one condition, the n-th time."""

from enum import StrEnum

from pydantic import Field, JsonValue

from envwright.agent.spec import AgentSpec
from envwright.record import Digest, Json, Record, digest


class Condition(StrEnum):
    PLAIN = "plain"
    HARDENED = "hardened"
    ADVERSARIAL = "adversarial"


class Sampling(Record):
    """What is asked of the model; None leaves the provider's default."""

    temperature: float | None = Field(default=None, ge=0)
    """`--temperature` wins."""
    max_tokens: int | None = Field(default=None, gt=0)
    """Tokens of one reply; `--max-tokens` wins."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus sampling."""
    seed: int | None = None
    """Passed on; not every provider heeds it."""
    reasoning_effort: str | None = None
    """Passed on to models that reason."""


class Limits(Record):
    """Caps on one trial."""

    turns: int = Field(default=100, gt=0)
    wall_seconds: float = Field(default=1800.0, gt=0)
    scoring_seconds: float = Field(default=300.0, gt=0)
    stall_seconds: float = Field(default=60.0, gt=0)
    """A host that answers no ping for so long holds up its neighbours: they are moved."""


def without_unset(told: Json, *names: str) -> Json:
    """An environment of one seat says nothing of seats."""
    return {name: value for name, value in told.items() if name not in names or value}


class TrialSpec(Record):
    revision: Digest
    index: int = Field(ge=0)
    key: Digest
    agent: AgentSpec
    condition: Condition = Condition.PLAIN
    sampling: Sampling = Sampling()
    args: dict[str, JsonValue] = {}
    judge: Digest | None = None
    """What environment code could ask: the content of the judge's model."""
    seat: str | None = None
    """The measured one, where there are several."""
    played: dict[str, Digest] = {}
    """Seats that others than the agent play → the content of their models."""
    limits: Limits = Limits()
    n: int = Field(default=0, ge=0)

    @property
    def id(self) -> str:
        """Of all that a result can depend on; when neighbours are moved is not among it."""
        told = self.model_dump(mode="json", exclude={"limits": {"stall_seconds"}})
        return digest(without_unset(told, "seat", "played"))
