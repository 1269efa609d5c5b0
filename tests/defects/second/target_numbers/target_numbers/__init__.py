"""Make a target from four numbers."""

from target_numbers.game import load_environment

__all__ = ["load_environment"]
