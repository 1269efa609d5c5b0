"""Ocean freight invoices in foreign currency, to be booked in euros."""

from freight_invoices.taskset import FreightInvoices

__all__ = ["FreightInvoices"]
