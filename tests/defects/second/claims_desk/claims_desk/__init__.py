"""A claims desk with its files behind a tool."""

from claims_desk.environment import load_environment

__all__ = ["load_environment"]
