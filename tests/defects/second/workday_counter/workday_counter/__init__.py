"""Working days, counted with a tool."""

from workday_counter.environment import load_environment

__all__ = ["load_environment"]
