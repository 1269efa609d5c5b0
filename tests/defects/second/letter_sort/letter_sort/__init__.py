"""Words whose letters are to be sorted."""

from letter_sort.taskset import LetterTaskset

__all__ = ["LetterTaskset"]
