"""Days between dates."""

from day_counter.taskset import DayCounter

__all__ = ["DayCounter"]
