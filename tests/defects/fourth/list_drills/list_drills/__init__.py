"""Small functions on lists."""

from list_drills.taskset import DrillTaskset

__all__ = ["DrillTaskset"]
