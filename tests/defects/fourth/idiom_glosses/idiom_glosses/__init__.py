"""Idioms to be explained."""

from idiom_glosses.taskset import IdiomTaskset

__all__ = ["IdiomTaskset"]
