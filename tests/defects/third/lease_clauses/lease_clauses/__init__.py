"""Lease clauses in plain English, graded by a judge model."""

from .lease_clauses import load_environment

__all__ = ["load_environment"]
