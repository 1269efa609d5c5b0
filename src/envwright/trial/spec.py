"""`TrialSpec`: one agent on one task of one revision under one condition, the n-th time."""

from enum import StrEnum

from pydantic import Field, JsonValue

from envwright.agent.spec import AgentSpec
from envwright.environment.egress import Egress
from envwright.record import Digest, Record, digest


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
    limits: Limits = Limits()
    egress: Egress | None = None
    """What environment code could reach; None for nothing."""
    n: int = Field(default=0, ge=0)

    @property
    def id(self) -> str:
        """Of all that a result can depend on; when neighbours are moved is not among it."""
        said = self.model_dump(mode="json", exclude={"limits": {"stall_seconds"}})
        return digest({name: value for name, value in said.items() if name != "egress" or value})
