"""Movable feasts and the dates they fell on."""

from movable_feasts.feasts import load_environment

__all__ = ["load_environment"]
