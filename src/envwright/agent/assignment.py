"""`Assignment`: what any agent is given, whether it solves, builds, judges or hunts."""

from pydantic import Field

from envwright.agent.spec import AgentSpec
from envwright.record import Record


class Mount(Record):
    """A folder that the agent may see."""

    source: str
    target: str
    writable: bool = False


class Assignment(Record):
    agent: AgentSpec
    prompt: str | None = None
    """None when the environment speaks first or holds the prompt itself."""
    workspace: str | None = None
    mounts: tuple[Mount, ...] = ()
    endpoint: str | None = None
    """Where its model answers, as seen from inside its sandbox."""
    turns: int = Field(default=100, gt=0)
    wall_seconds: float = Field(default=1800.0, gt=0)
