"""Sums on the 24-hour clock."""

from clock_sums.environment import load_environment

__all__ = ["load_environment"]
