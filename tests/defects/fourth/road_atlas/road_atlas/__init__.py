"""Trips through an invented country, with an atlas to look in."""

from road_atlas.taskset import TripTaskset

__all__ = ["TripTaskset"]
