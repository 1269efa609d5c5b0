"""Chess openings: from the first moves to an index card."""

from opening_cards.taskset import OpeningTaskset

__all__ = ["OpeningTaskset"]
