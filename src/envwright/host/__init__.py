"""Our side of the host: its venv, its process, the pool of them, and `load`."""

from envwright.host.load import HostLimits, Loaded, Scoring, load
from envwright.host.pool import Pool
from envwright.host.process import CallError, HostDied, HostProcess, HostSpec
from envwright.host.venv import Builder, Venv, ensure_venv

__all__ = [
    "Builder",
    "CallError",
    "HostDied",
    "HostLimits",
    "HostProcess",
    "HostSpec",
    "Loaded",
    "Pool",
    "Scoring",
    "Venv",
    "ensure_venv",
    "load",
]
