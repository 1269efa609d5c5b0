"""German nouns and their plurals."""

from german_plurals.taskset import PluralTaskset

__all__ = ["PluralTaskset"]
