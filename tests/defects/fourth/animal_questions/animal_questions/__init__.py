"""A guessing game about animals and their traits."""

from animal_questions.game import load_environment

__all__ = ["load_environment"]
