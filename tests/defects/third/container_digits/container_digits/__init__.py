"""Check digits of freight containers."""

from container_digits.env import load_environment

__all__ = ["load_environment"]
