"""The game of 24."""

from make_24.taskset import GameTaskset

__all__ = ["GameTaskset"]
