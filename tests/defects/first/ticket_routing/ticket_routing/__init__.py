"""Tickets to be read and routed."""

from ticket_routing.taskset import TicketTaskset

__all__ = ["TicketTaskset"]
