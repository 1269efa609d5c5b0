"""Years as Roman numerals."""

from roman_years.taskset import RomanTaskset

__all__ = ["RomanTaskset"]
