"""Kinematics drills from a small generated textbook."""

from kinematics_drills.taskset import DrillTaskset

__all__ = ["DrillTaskset"]
