"""A season of rain gauge readings behind tools."""

from rain_gauges.taskset import RainGauges

__all__ = ["RainGauges"]
