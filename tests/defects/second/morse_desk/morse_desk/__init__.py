"""Morse messages to decode."""

from morse_desk.taskset import MorseTaskset

__all__ = ["MorseTaskset"]
