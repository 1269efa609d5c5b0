"""Hexadecimal colours."""

from hex_colours.taskset import ColourTaskset

__all__ = ["ColourTaskset"]
