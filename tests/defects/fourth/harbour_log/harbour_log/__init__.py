"""Look-ups in a harbour log."""

from harbour_log.environment import load_environment

__all__ = ["load_environment"]
