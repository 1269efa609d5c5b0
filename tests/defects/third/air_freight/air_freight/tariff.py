"""How a shipment is charged."""

import math
import os

# IATA's is 6000; express carriers divide by 5000
DIVISOR = int(os.getenv("AIR_FREIGHT_DIVISOR", "6000"))


def chargeable(boxes: int, sides: tuple[int, int, int], actual: float) -> tuple[str, float]:
    """What is charged, and how many kilograms; both weights round up to half a kilogram."""
    volumetric = math.ceil(2 * boxes * math.prod(sides) / DIVISOR) / 2
    actual = math.ceil(2 * actual) / 2
    return ("volumetric", volumetric) if volumetric > actual else ("actual", actual)
