"""Roman numerals of triads."""

from chord_numerals.taskset import ChordNumeralsTaskset

__all__ = ["ChordNumeralsTaskset"]
