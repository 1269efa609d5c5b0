"""Relative ages in a section."""

from strata_ages.taskset import StrataAgesTaskset

__all__ = ["StrataAgesTaskset"]
