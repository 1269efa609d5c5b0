"""Recipes for another number of guests."""

from recipe_scaling.taskset import RecipeTaskset

__all__ = ["RecipeTaskset"]
