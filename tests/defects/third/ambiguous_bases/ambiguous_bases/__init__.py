"""Ambiguous bases of DNA reads."""

from ambiguous_bases.taskset import AmbiguousBasesTaskset

__all__ = ["AmbiguousBasesTaskset"]
