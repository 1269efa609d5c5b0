from roman_year.taskset import RomanTaskset

__all__ = ["RomanTaskset"]
