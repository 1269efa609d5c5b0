"""Dates of the Roman calendar."""

from roman_dates.taskset import RomanDatesTaskset

__all__ = ["RomanDatesTaskset"]
