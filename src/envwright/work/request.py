"""`Request`: what is asked of one environment, names looked up."""

from dataclasses import dataclass, field

from pydantic import JsonValue

from envwright.agent import AgentSpec
from envwright.budget import Budget
from envwright.trial import Limits, Sampling


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for."""

    agents: tuple[AgentSpec, ...]
    tasks: int | None = None
    trials: int = 1
    selected: tuple[str, ...] = ()
    task_seed: str | None = None
    """Draws the tasks; without one they are the first."""
    sampling: Sampling = Sampling()
    args: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    seat: str | None = None
    """The one to measure; None where there is no choice."""
    fresh: bool = False
    limits: Limits = Limits()
    cap: Budget | None = None
    """On one trial."""
