"""How much is in the stock room?"""

from stock_room.taskset import StockTaskset

__all__ = ["StockTaskset"]
