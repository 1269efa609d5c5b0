"""Stowage plans and the moments they make."""

from stowage_moments.taskset import StowageMoments

__all__ = ["StowageMoments"]
