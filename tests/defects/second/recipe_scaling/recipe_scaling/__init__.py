"""Recipes to scale."""

from recipe_scaling.taskset import RecipeTaskset

__all__ = ["RecipeTaskset"]
