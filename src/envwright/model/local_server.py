"""The child process that serves `local/smollm2`: `python -m envwright.model.local_server`.

`serve_local` starts it with the weights, the lease file, and the descriptor of its state file,
whose lock it holds for as long as it lives. It runs llama.cpp's own server on a free port of the
loopback, says where once it answers, and ends once no client holds the lease.

Does not share more than it must: one thread, since two collapse on a busy machine; no prompt
cache in memory, since llama.cpp's own default takes up to 8 GB; a context of 2,048 tokens a call.
"""

import fcntl
import os
import signal
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import xllamacpp  # pyright: ignore[reportMissingTypeStubs]

from envwright.model.local import SLOTS, Address, try_lock

_llama: Any = xllamacpp

_LOAD_SECONDS = 120
_POLL_SECONDS = 0.2


class _Server(Protocol):
    listening_address: str


def main() -> None:
    weights, lease_path, state = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(state, False)
    # Loading holds the interpreter's lock: only the kernel can end it when nobody waits any more.
    signal.alarm(_LOAD_SECONDS)
    server = _load(weights)
    address = Address(pid=os.getpid(), port=urlsplit(server.listening_address).port or 0)
    _wait_for_answer(address.port)
    signal.alarm(0)
    os.write(state, address.model_dump_json().encode() + b"\n")
    lease = os.open(lease_path, os.O_RDWR)
    while not try_lock(lease, fcntl.LOCK_EX):
        time.sleep(_POLL_SECONDS)
    # The state goes first: whoever gets the lease next must not take this server for alive.
    fcntl.flock(state, fcntl.LOCK_UN)
    os._exit(0)


def _load(weights: Path) -> _Server:
    params = _llama.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2048 * SLOTS
    params.n_parallel = SLOTS
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.cache_ram_mib = 0
    params.use_jinja = True
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1
    try:
        return _llama.Server(params)
    except RuntimeError as error:
        sys.exit(f"llama.cpp: {error}")


def _wait_for_answer(port: int) -> None:
    status = 0
    while status != 200:
        connection = HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/health")
        status = connection.getresponse().status
        connection.close()
        time.sleep(0 if status == 200 else _POLL_SECONDS)


if __name__ == "__main__":
    main()
