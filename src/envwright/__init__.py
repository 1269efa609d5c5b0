"""Envwright: continuous QA for RL environments and agent skills."""

__version__ = "0.1.0"

__all__ = ["__version__"]
