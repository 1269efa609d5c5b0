from warehouse_stock.taskset import Warehouse

__all__ = ["Warehouse"]
