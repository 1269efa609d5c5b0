"""Chargeable weights of air freight."""

from air_freight.taskset import AirFreightTaskset

__all__ = ["AirFreightTaskset"]
