"""Our side of the host: its venv, its process, the pool of them, and `load`."""

from envwright.host.hub import fetch
from envwright.host.load import HostLimits, Loaded, Permit, Scoring, load
from envwright.host.pool import Pool
from envwright.host.prepare import Preparation
from envwright.host.process import CallError, HostDied, HostProcess, HostSpec
from envwright.host.reuse import OwnVenv, read_own_venv
from envwright.host.uv import Follow, Show
from envwright.host.venv import Builder, Venv, ensure_venv

__all__ = [
    "Builder",
    "CallError",
    "Follow",
    "HostDied",
    "HostLimits",
    "HostProcess",
    "HostSpec",
    "Loaded",
    "OwnVenv",
    "Permit",
    "Pool",
    "Preparation",
    "Scoring",
    "Show",
    "Venv",
    "ensure_venv",
    "fetch",
    "load",
    "read_own_venv",
]
