"""A staff handbook behind tools."""

from staff_handbook.taskset import HandbookTaskset

__all__ = ["HandbookTaskset"]
