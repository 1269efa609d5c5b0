"""Stars in the order of their brightness."""

from star_magnitudes.environment import load_environment

__all__ = ["load_environment"]
