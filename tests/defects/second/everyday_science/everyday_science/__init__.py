"""Everyday phenomena, explained and judged."""

from everyday_science.taskset import ScienceTaskset

__all__ = ["ScienceTaskset"]
