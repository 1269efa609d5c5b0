"""Higher or lower, six rounds long."""

from number_hunt.environment import load_environment

__all__ = ["load_environment"]
