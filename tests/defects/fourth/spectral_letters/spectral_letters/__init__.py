"""Stars and their spectral classes."""

from spectral_letters.taskset import StarTaskset

__all__ = ["StarTaskset"]
