"""WHERE code that is not ours runs: `Command` → `Process`, in bubblewrap or, by name, nowhere."""

from envwright.sandbox.bubblewrap import Bubblewrap
from envwright.sandbox.sandbox import Command, Confinement, Mount, Process, Sandbox
from envwright.sandbox.unconfined import Unconfined

__all__ = [
    "Bubblewrap",
    "Command",
    "Confinement",
    "Mount",
    "Process",
    "Sandbox",
    "Unconfined",
]
