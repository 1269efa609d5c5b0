"""Support tickets to route."""

from ticket_triage.triage import TriageTaskset

__all__ = ["TriageTaskset"]
