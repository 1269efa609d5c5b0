"""Rosters, and who on them worked too long."""

from overtime_audit.rosters import OvertimeAudit

__all__ = ["OvertimeAudit"]
