"""Stellar distances from magnitudes."""

from stellar_distances.environment import load_environment

__all__ = ["load_environment"]
