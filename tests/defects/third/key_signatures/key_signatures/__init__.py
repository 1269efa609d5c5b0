"""Find the key of a melody."""

from key_signatures.key_signatures import load_environment

__all__ = ["load_environment"]
