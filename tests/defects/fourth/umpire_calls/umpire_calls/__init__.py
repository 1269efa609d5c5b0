"""Tennis scores, called twice."""

from umpire_calls.environment import load_environment

__all__ = ["load_environment"]
