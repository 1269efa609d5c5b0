"""Maintenance sheets behind a file tool."""

from torque_sheets.taskset import TorqueTaskset

__all__ = ["TorqueTaskset"]
