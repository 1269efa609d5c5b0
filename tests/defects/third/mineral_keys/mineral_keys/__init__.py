"""Minerals by their properties."""

from mineral_keys.taskset import MineralKeysTaskset

__all__ = ["MineralKeysTaskset"]
