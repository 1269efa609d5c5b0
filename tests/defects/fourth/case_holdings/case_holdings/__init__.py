"""Cases and what was held."""

from case_holdings.taskset import HoldingTaskset

__all__ = ["HoldingTaskset"]
