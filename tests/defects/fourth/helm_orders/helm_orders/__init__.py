"""Helm orders, one per turn, and the heading that they lead to."""

from helm_orders.bridge import load_environment

__all__ = ["load_environment"]
