"""Knitting: how many stitches are in a piece?"""

from knitting_counts.taskset import KnittingTaskset

__all__ = ["KnittingTaskset"]
