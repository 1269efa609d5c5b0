"""Overdue invoices."""

from aged_receivables.taskset import ReceivablesTaskset

__all__ = ["ReceivablesTaskset"]
