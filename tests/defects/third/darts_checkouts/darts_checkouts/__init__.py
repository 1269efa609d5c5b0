"""Darts: finish a leg with three darts at the most."""

from darts_checkouts.taskset import CheckoutTaskset

__all__ = ["CheckoutTaskset"]
