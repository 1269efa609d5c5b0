"""The port: a `Command` with the little it may see, and the running `Process`.

A process's output is kept as its last 64 KiB, however much it prints. `kill` ends
the whole tree. What a sandbox guarantees is its own to say.
"""

import asyncio
import contextlib
from asyncio.subprocess import Process as Child
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Mount:
    """A path that the command sees where it is, or elsewhere."""

    path: Path
    writable: bool = False
    at: Path | None = None


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a command may use."""

    network: bool = False
    memory_bytes: int = 8 * 2**30
    """Of the whole tree, where the kernel lets us say so."""
    processes: int = 512
    cpus: float | None = None


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    variables: dict[str, str] = field(default_factory=dict[str, str])
    workspace: Path | None = None
    """The only writable folder, and the working directory; a private /tmp when None."""
    scratch: tuple[Path, ...] = ()
    """Folders that are empty, writable, and gone afterwards."""
    secrets: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """Variables that no list of processes may show."""
    passed_fds: tuple[int, ...] = ()
    confinement: Confinement = Confinement()


class Sandbox(Protocol):
    name: str

    async def start(self, command: Command) -> "Process":
        """Start it; `SandboxError` when the sandbox itself cannot."""
        ...

    async def check(self) -> str | None:
        """Launch something in it: None when that works, else why not and what to do."""
        ...


class Process:
    """A running command and all that it started."""

    def __init__(self, child: Child, release: Callable[[], None]) -> None:
        self._child = child
        self._release = release
        self._tail = bytearray()
        self._drain = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        return self._child.pid

    async def _read(self) -> None:
        stream = self._child.stdout
        assert stream is not None
        while chunk := await stream.read(TAIL_BYTES):
            self._tail += chunk
            del self._tail[:-TAIL_BYTES]

    @property
    def is_cut(self) -> bool:
        """Whether it printed more than is kept."""
        return len(self._tail) >= TAIL_BYTES

    @property
    def tail(self) -> str:
        """The last of what it printed."""
        return self._tail.decode("utf-8", "replace")

    async def wait(self) -> int:
        code = await self._child.wait()
        # A grandchild may hold the pipe open; what came so far is enough.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._drain), 1.0)
        self._drain.cancel()
        self._release()
        return code

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._child.kill()
