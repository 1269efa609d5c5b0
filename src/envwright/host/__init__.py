"""Our side of the host: its venv, its process, the pool of them, and `load`."""

from envwright.host.hub import fetch, index_of
from envwright.host.interpreter import find_interpreter
from envwright.host.load import HostLimits, Loaded, Permit, Scoring, load
from envwright.host.pool import Pool
from envwright.host.prepare import Preparation
from envwright.host.process import CallError, HostDied, HostProcess, HostSpec
from envwright.host.reuse import OwnVenv, check_python, read_own_venv
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
    "check_python",
    "ensure_venv",
    "fetch",
    "find_interpreter",
    "index_of",
    "load",
    "read_own_venv",
]
