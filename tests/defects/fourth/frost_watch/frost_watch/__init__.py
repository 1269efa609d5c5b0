"""Frost in the garden: look up which plants stand it."""

from frost_watch.taskset import FrostTaskset

__all__ = ["FrostTaskset"]
