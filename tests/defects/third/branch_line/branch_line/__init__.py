"""Journeys on a branch line."""

from branch_line.taskset import BranchLineTaskset

__all__ = ["BranchLineTaskset"]
