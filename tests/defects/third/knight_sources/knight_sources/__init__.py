"""Squares from which a knight attacks."""

from knight_sources.game import load_environment

__all__ = ["load_environment"]
