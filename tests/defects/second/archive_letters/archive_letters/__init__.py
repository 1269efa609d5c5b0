"""A merchant's archive."""

from archive_letters.archive import load_environment

__all__ = ["load_environment"]
