"""The letters of a merchant family, by year."""

from letter_archive.taskset import LetterArchive

__all__ = ["LetterArchive"]
