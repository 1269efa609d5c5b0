"""Recipe cards whose baking step is checked for four facts."""

from recipe_cards.taskset import RecipeCardsTaskset

__all__ = ["RecipeCardsTaskset"]
