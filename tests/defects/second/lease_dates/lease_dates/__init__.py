"""Leases and their last days."""

from lease_dates.environment import load_environment

__all__ = ["load_environment"]
