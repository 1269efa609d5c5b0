"""WHAT is tested, as data: `Environment`, `Task`, and `Source`, where a revision comes from."""

from envwright.environment.environment import (
    Argument,
    Environment,
    Judge,
    Kind,
    Seat,
    Signal,
    Task,
    TaskCount,
)
from envwright.environment.source import Source, resolve

__all__ = [
    "Argument",
    "Environment",
    "Judge",
    "Kind",
    "Seat",
    "Signal",
    "Source",
    "Task",
    "TaskCount",
    "resolve",
]
