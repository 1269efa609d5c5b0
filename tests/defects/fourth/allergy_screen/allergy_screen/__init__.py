"""Prescriptions to be screened for penicillins."""

from allergy_screen.taskset import ScreenTaskset

__all__ = ["ScreenTaskset"]
