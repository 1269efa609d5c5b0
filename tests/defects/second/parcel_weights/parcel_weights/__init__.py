"""Parcels in a depot."""

from parcel_weights.environment import load_environment

__all__ = ["load_environment"]
