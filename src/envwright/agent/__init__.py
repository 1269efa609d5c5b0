"""WHO attempts: the agent spec `KIND[:MODEL]` and the `Assignment` an agent is given."""

from envwright.agent.assignment import Assignment
from envwright.agent.spec import AgentKind, AgentSpec

__all__ = ["AgentKind", "AgentSpec", "Assignment"]
