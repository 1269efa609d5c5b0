"""Tables of football groups."""

from group_tables.taskset import GroupTablesTaskset

__all__ = ["GroupTablesTaskset"]
