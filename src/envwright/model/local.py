"""`local/smollm2`: a real, small model on this machine, without a key.

`serve_local` yields the base URL of an OpenAI server that all clients of one cache folder share.
It is a child process of whoever came first, and lives as long as any client does:

    door    exclusive while a client comes or goes, so that comings and goings do not mix
    lease   shared by every client; the server ends once it can take it exclusively
    state   exclusive for the server's whole life; holds its pid and port once it answers

Guarantees: at most one server per cache folder and host; the last client to leave waits for it to
end; locks are the kernel's, so one killed with -9 leaves neither a server nor a stale state.
Does not restart a server that dies while clients are inside: their calls fail, the next to come
starts another.
"""

import asyncio
import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from envwright.errors import EnvwrightError, UsageError
from envwright.model.local_weights import is_pulled, model_folder, pull, weights_path
from envwright.model.model import ALL_PROTOCOLS, Model
from envwright.record import Record

__all__ = ["LOCAL_NAME", "SLOTS", "is_pulled", "local_model", "pull", "serve_local"]

LOCAL_NAME = "local/smollm2"
SLOTS = 4
"""Calls that the server works on at once."""

_START_SECONDS = 60.0
_LEAVE_SECONDS = 10.0
_POLL_SECONDS = 0.03


class Address(Record):
    """What the server writes into its state file once it answers."""

    pid: int
    port: int


def local_model(base_url: str) -> Model:
    return Model(
        name=LOCAL_NAME,
        protocols=ALL_PROTOCOLS,
        base_url=base_url,
        model="smollm2",
        limit=SLOTS,
        free=True,
    )


@asynccontextmanager
async def serve_local(cache: Path) -> AsyncGenerator[str]:
    """The base URL of the shared server, started when nobody else has; the weights must be there.

    Leaving it last ends the server.
    """
    if not await asyncio.to_thread(is_pulled, cache):
        state = "damaged" if weights_path(cache).exists() else "not on this machine"
        raise UsageError(
            f"{LOCAL_NAME} is {state}", hint=f"run `envwright model pull {LOCAL_NAME}`"
        )
    meeting = Meeting.at(cache)
    with _opened(meeting.lease) as lease:
        inside = False
        started: subprocess.Popen[bytes] | None = None
        try:
            async with _through_door(meeting):
                inside = await _until(lambda: try_lock(lease, fcntl.LOCK_SH), _LEAVE_SECONDS)
                if not inside:
                    raise _not_started(meeting, "the one before it does not end")
                started = _start_unless_running(meeting, weights_path(cache))
                address = await _answering(meeting, started)
            yield f"http://127.0.0.1:{address.port}/v1"
        finally:
            if inside:
                await _leave(meeting, lease, started)


@dataclass(frozen=True, slots=True)
class Meeting:
    """The files through which clients and the server meet."""

    folder: Path

    @classmethod
    def at(cls, cache: Path) -> "Meeting":
        # A home on a network is shared by hosts that cannot reach each other's loopback.
        meeting = cls(model_folder(cache) / "server" / socket.gethostname())
        try:
            meeting.folder.mkdir(parents=True, exist_ok=True)
            meeting.lease.touch()
        except OSError as error:
            raise EnvwrightError(
                f"{LOCAL_NAME} cannot be shared through {str(meeting.folder)!r}: {error}",
                hint="make that folder writable",
            ) from error
        return meeting

    @property
    def door(self) -> Path:
        return self.folder / "door.lock"

    @property
    def lease(self) -> Path:
        return self.folder / "lease.lock"

    @property
    def state(self) -> Path:
        return self.folder / "server.json"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def is_running(self) -> bool:
        with _opened(self.state) as state:
            return not try_lock(state, fcntl.LOCK_SH)

    def address(self) -> Address | None:
        """Where the server answers; None while there is none, or none yet."""
        if not self.is_running():
            return None
        written = self.state.read_text()
        return Address.model_validate_json(written) if written.endswith("\n") else None


def try_lock(file: int, mode: int) -> bool:
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _opened(path: Path) -> Generator[int]:
    """A file to lock; whatever was locked is free afterwards."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield file
    finally:
        os.close(file)


async def _until(done: Callable[[], bool], seconds: float) -> bool:
    """Whether `done` came true in time."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


@asynccontextmanager
async def _through_door(meeting: Meeting) -> AsyncGenerator[None]:
    with _opened(meeting.door) as door:
        if not await _until(lambda: try_lock(door, fcntl.LOCK_EX), 2 * _START_SECONDS):
            raise _not_started(meeting, "another command has been starting or ending it for long")
        yield


def _start_unless_running(meeting: Meeting, weights: Path) -> subprocess.Popen[bytes] | None:
    """Start the server; None when there is one. The child inherits the lock of its state file."""
    with _opened(meeting.state) as state, meeting.log.open("ab") as log:
        if not try_lock(state, fcntl.LOCK_EX):
            return None
        os.truncate(state, 0)
        log.truncate(0)
        child = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "envwright.model.local_server"),
                *(str(weights), str(meeting.lease), str(state)),
            ],
            pass_fds=(state,),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    # It may outlive this client: reap it whenever it ends.
    threading.Thread(target=child.wait, name="local-server-reaper", daemon=True).start()
    return child


async def _answering(meeting: Meeting, started: subprocess.Popen[bytes] | None) -> Address:
    def settled() -> bool:
        return meeting.address() is not None or not meeting.is_running()

    in_time = await _until(settled, _START_SECONDS)
    address = meeting.address()
    if address is not None:
        return address
    if started is not None:
        started.kill()
    why = "it ended" if in_time else f"no answer in {_START_SECONDS:.0f} s"
    raise _not_started(meeting, why)


def _not_started(meeting: Meeting, why: str) -> EnvwrightError:
    lines = meeting.log.read_text(errors="replace").splitlines() if meeting.log.exists() else []
    tail = "".join(f"\n  {line}" for line in lines[-8:])
    return EnvwrightError(
        f"the server of {LOCAL_NAME} did not start: {why}{tail}",
        hint=f"its log is {meeting.log}; `envwright doctor` checks this machine",
    )


async def _leave(meeting: Meeting, lease: int, started: subprocess.Popen[bytes] | None) -> None:
    """Give the lease back; when no other client has one, wait until the server has ended."""
    with _opened(meeting.door) as door:
        at_door = await _until(lambda: try_lock(door, fcntl.LOCK_EX), _LEAVE_SECONDS)
        fcntl.flock(lease, fcntl.LOCK_UN)
        # Neither lock to be had: the server took the lease first, and is ending.
        others = not try_lock(lease, fcntl.LOCK_EX) and try_lock(lease, fcntl.LOCK_SH)
        fcntl.flock(lease, fcntl.LOCK_UN)
        if others or not at_door:
            return
        ended = await _until(lambda: not meeting.is_running(), _LEAVE_SECONDS)
        if started:
            if not ended:
                started.kill()
            await asyncio.to_thread(started.wait)
