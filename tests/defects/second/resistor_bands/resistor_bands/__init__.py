from resistor_bands.taskset import Resistors

__all__ = ["Resistors"]
