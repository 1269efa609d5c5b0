"""Words that fit a pattern."""

from word_fitting.taskset import FittingTaskset

__all__ = ["FittingTaskset"]
