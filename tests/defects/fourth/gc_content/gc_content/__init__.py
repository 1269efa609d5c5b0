"""GC content of DNA sequences."""

from gc_content.lab import load_environment

__all__ = ["load_environment"]
