"""Museum labels, graded by a judge."""

from museum_labels.environment import load_environment

__all__ = ["load_environment"]
