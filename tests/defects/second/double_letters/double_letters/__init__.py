"""Words with doubled letters."""

from double_letters.taskset import LettersTaskset

__all__ = ["LettersTaskset"]
