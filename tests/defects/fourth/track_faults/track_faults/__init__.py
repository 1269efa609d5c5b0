"""Faults on a railway line."""

from track_faults.environment import load_environment

__all__ = ["load_environment"]
