"""Noon entries in ships' logs."""

from ship_logs.taskset import ShipLogsTaskset

__all__ = ["ShipLogsTaskset"]
