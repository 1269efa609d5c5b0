"""The composition root, and what commands ask of it."""

from envwright.app.app import App
from envwright.options import RunOptions

__all__ = ["App", "RunOptions"]
