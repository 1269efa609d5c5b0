"""Household measures in grams."""

from kitchen_scales.measures import load_environment

__all__ = ["load_environment"]
