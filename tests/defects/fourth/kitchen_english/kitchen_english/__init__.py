"""British kitchen words in American English."""

from kitchen_english.environment import load_environment

__all__ = ["load_environment"]
