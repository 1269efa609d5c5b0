"""Derivatives of polynomials."""

from derivative_drill.taskset import DerivativeTaskset

__all__ = ["DerivativeTaskset"]
