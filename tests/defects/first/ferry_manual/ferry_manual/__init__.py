"""Questions about a ferry's manual."""

from ferry_manual.taskset import FerryTaskset

__all__ = ["FerryTaskset"]
