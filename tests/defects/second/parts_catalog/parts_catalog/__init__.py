"""Orders to price with a catalogue."""

from parts_catalog.taskset import OrderTaskset

__all__ = ["OrderTaskset"]
