from recipe_scaling.environment import load_environment

__all__ = ["load_environment"]
