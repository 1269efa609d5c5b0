"""Overdue fines at the desks of a city library."""

from overdue_fines.desk import FinesTaskset

__all__ = ["FinesTaskset"]
