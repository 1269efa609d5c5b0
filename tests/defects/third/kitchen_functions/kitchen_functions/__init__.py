"""Write a small Python function that converts a kitchen measure."""

from kitchen_functions.taskset import KitchenTaskset

__all__ = ["KitchenTaskset"]
