"""A clinic for garden plants."""

from plant_clinic.environment import load_environment

__all__ = ["load_environment"]
