"""Where is the pallet? The answer is in the day's papers, which two tools open."""

from warehouse_desk.taskset import WarehouseTaskset

__all__ = ["WarehouseTaskset"]
