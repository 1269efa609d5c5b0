"""Manifests at a customs gate, and what is to be held."""

from hold_list.gate import HoldList

__all__ = ["HoldList"]
