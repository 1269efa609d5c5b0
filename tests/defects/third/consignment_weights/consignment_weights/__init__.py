"""Chargeable weights of air freight."""

from consignment_weights.taskset import AirFreightTaskset

__all__ = ["AirFreightTaskset"]
