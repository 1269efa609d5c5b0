"""A railway's timetable desk."""

from railway_desk.taskset import RailwayTaskset

__all__ = ["RailwayTaskset"]
