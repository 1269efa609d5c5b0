"""`TrialSpec`: one agent on one task of one revision under one condition, the n-th time."""

from enum import StrEnum
from typing import Any

from pydantic import Field, JsonValue

from envwright.agent.spec import AgentSpec
from envwright.budget import Budget
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
    """Nucleus sampling; `--top-p` wins."""
    seed: int | None = None
    """Of the first trial of a task, one more for each that follows; not every provider heeds it.
    `--seed` wins."""
    reasoning_effort: str | None = None
    """Passed on to models that reason; `--reasoning-effort` wins."""

    def under(self, other: "Sampling") -> "Sampling":
        """What the other asks for where it does, else this."""
        return self.model_copy(update=other.model_dump(exclude_none=True))

    def of_repetition(self, n: int) -> "Sampling":
        """What the n-th trial asks for: under one seed all of them would be the same draw."""
        return self if self.seed is None else self.model_copy(update={"seed": self.seed + n})


class Limits(Record):
    """Caps on one trial."""

    turns: int = Field(default=100, gt=0)
    wall_seconds: float = Field(default=1800.0, gt=0)
    scoring_seconds: float = Field(default=300.0, gt=0)
    stall_seconds: float = Field(default=60.0, gt=0)
    """A host that answers no ping for so long holds up its neighbours: they are moved."""


class Setting(Record):
    """What a result depends on beside its revision, its task and its agent."""

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
    cap: Budget | None = None
    """What one trial may spend; None for no cap."""
    venv: Digest | None = None
    """The content of the user's own venv; None where the revision says what is installed."""
    egress: Egress | None = None
    """What environment code could reach; None for nothing."""
    secrets: tuple[str, ...] = ()
    """The names of those that it was given."""
    prepared: str | None = None
    """The content of what it downloaded before."""


class TrialSpec(Setting):
    revision: Digest
    index: int = Field(ge=0)
    key: Digest
    agent: AgentSpec
    n: int = Field(default=0, ge=0)

    @property
    def id(self) -> str:
        """Of all that a result can depend on; when neighbours are moved is not among it."""
        return identity(self, exclude={"limits": {"stall_seconds"}})


LEFT_OUT_WHILE_UNSET = frozenset({"seat", "played", "cap", "venv", "egress", "secrets", "prepared"})
"""What most trials do not have: theirs are the same whether or not a program knows of it."""


def identity(record: Record, exclude: Any = None) -> str:
    """A digest of all that the record says."""
    said = record.model_dump(mode="json", exclude=exclude)
    unset = {name for name in LEFT_OUT_WHILE_UNSET & said.keys() if not said[name]}
    return digest({name: value for name, value in said.items() if name not in unset})
