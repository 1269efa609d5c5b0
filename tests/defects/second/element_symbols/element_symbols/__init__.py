"""Symbols of the elements."""

from element_symbols.taskset import SymbolTaskset

__all__ = ["SymbolTaskset"]
