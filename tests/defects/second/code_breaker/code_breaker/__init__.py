"""A code-breaking game."""

from code_breaker.environment import load_environment

__all__ = ["load_environment"]
