"""Straight-line depreciation."""

from book_values.taskset import BookValueTaskset

__all__ = ["BookValueTaskset"]
