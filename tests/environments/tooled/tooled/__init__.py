"""Tools that misbehave; the reward is paid for any reply at all."""

from tooled.taskset import Tooled

__all__ = ["Tooled"]
