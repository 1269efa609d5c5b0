"""Our side of the host: its venv, its process, the pool of them, and `load`."""

from envwright.host.load import HostLimits, Loaded, Permit, Scoring, load
from envwright.host.pool import Pool
from envwright.host.prepare import Preparation
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
    "Permit",
    "Pool",
    "Preparation",
    "Scoring",
    "Venv",
    "ensure_venv",
    "load",
]
