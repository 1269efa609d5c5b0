"""Taxi tariffs as formulas."""

from taxi_tariffs.environment import load_environment

__all__ = ["load_environment"]
