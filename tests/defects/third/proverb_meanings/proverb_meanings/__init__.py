"""Meanings of proverbs."""

from proverb_meanings.environment import load_environment

__all__ = ["load_environment"]
