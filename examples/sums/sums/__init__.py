"""Addition problems generated from a seed."""

from sums.taskset import SumsTaskset

__all__ = ["SumsTaskset"]
