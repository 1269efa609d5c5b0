"""Amounts to pick out of invoices."""

from invoice_fields.taskset import InvoiceTaskset

__all__ = ["InvoiceTaskset"]
