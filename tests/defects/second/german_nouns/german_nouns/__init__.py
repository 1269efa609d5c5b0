"""German vocabulary cards."""

from german_nouns.environment import load_environment

__all__ = ["load_environment"]
