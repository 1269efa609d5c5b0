"""Shortest trips of a chess knight."""

from knight_trips.taskset import KnightTripsTaskset

__all__ = ["KnightTripsTaskset"]
