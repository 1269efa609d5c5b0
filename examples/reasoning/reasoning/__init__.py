"""The generators of reasoning-gym as a taskset."""

from reasoning.taskset import ReasoningTaskset

__all__ = ["ReasoningTaskset"]
