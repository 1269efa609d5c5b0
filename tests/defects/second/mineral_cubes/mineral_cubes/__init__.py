"""Masses of mineral cubes."""

from mineral_cubes.taskset import CubesTaskset

__all__ = ["CubesTaskset"]
