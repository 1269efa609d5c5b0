from invoice_totals.taskset import Invoices

__all__ = ["Invoices"]
