"""WHAT is tested, as data: `Environment`, `Task`, and `Source`, where a revision comes from."""

from envwright.environment.environment import Argument, Environment, Kind, Signal, Task, TaskCount
from envwright.environment.source import Source, resolve

__all__ = [
    "Argument",
    "Environment",
    "Kind",
    "Signal",
    "Source",
    "Task",
    "TaskCount",
    "resolve",
]
