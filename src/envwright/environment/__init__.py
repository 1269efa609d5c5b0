"""WHAT is tested, as data: `Environment`, `Task`, and `Source`, where a revision comes from."""

from envwright.environment.address import Address, HubId, Installed, read_address
from envwright.environment.environment import (
    Argument,
    Environment,
    Judge,
    Kind,
    Signal,
    Task,
    TaskCount,
)
from envwright.environment.source import Source, read_folder, snapshot

__all__ = [
    "Address",
    "Argument",
    "Environment",
    "HubId",
    "Installed",
    "Judge",
    "Kind",
    "Signal",
    "Source",
    "Task",
    "TaskCount",
    "read_address",
    "read_folder",
    "snapshot",
]
