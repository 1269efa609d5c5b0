"""Questions about a small register of companies."""

from .env import load_environment

__all__ = ["load_environment"]
