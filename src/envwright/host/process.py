"""One host process: started in the sandbox, called over frames, watched from outside.

A call ends with its answer, with `CallError` (environment code raised), or with
`HostDied`: the process crashed, hung or broke the protocol. `HostDied.alone` says
whether this call was the only one in it, and so the culprit.
"""

import asyncio
import contextlib
import math
import os
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envwright.environment import Source
from envwright.environment.egress import NO_EGRESS, Egress, Mode
from envwright.environment.secret import NO_SECRETS, Secrets
from envwright.errors import SandboxError
from envwright.host.prepare import OFFLINE, Cache
from envwright.host.venv import Venv
from envwright.record import Json, mapping
from envwright.sandbox import Command, Confinement, Mount, Process, Sandbox
from envwright_host.frames import HEADER, BadFrameError, body_length, decode, encode

PING_SECONDS = 1.0
NO_LIMITS: Mapping[str, float] = {}
EXIT_SECONDS = 1.0
CANCEL_SECONDS = 5.0
"""A call that is cancelled and goes on for longer does not mean to end."""


class CallError(Exception):
    """Environment code raised; `cause` is the host's word for whose failure it is."""

    def __init__(self, problem: Json, phase: str | None = None, at: int | None = None) -> None:
        super().__init__(str(problem.get("message", "")))
        self.phase = phase
        self.at = at
        """Which of its items the call was at."""
        self.type = str(problem.get("type", "Error"))
        self.cause = str(problem.get("cause", "environment"))
        self.traceback = str(problem.get("traceback") or "")


EXTENSIONS = "Extension modules:"
TOLD_BEFORE = 0.6
"""The part of an item's time after which a loop that is held up says where."""


class HostDied(Exception):
    """The process is gone, with every call that was in it."""

    def __init__(
        self,
        why: str,
        *,
        phase: str | None,
        alone: bool,
        tail: str,
        at: int | None = None,
        late: bool = False,
    ) -> None:
        super().__init__(why)
        self.why = why
        self.phase = phase
        self.at = at
        """Which of its items the call was at."""
        self.late = late
        """It was ended for its time, and did not end by itself."""
        self.alone = alone
        # Python's word on a crash ends with a list that is longer than all that matters.
        lines = tail.splitlines()
        self.tail = "\n".join(line for line in lines if not line.startswith(EXTENSIONS))


@dataclass(frozen=True, slots=True)
class HostSpec:
    """What a host holds, and within which limits."""

    source: Source
    venv: Venv
    package: Path
    """The folder that holds the host package."""
    args: Json
    turns: int = 100
    stall_seconds: float = 60.0
    load_seconds: float = 600.0
    confinement: Confinement = field(default_factory=Confinement)
    egress: Egress = NO_EGRESS
    secrets: Secrets = NO_SECRETS
    cache: Cache | None = None
    hash_seed: int | None = None
    """Of Python's hashes; None when every process has one of its own."""


@dataclass(slots=True)
class Pending:
    future: asyncio.Future[Any]
    patience: Mapping[str, float]
    item_seconds: float = math.inf
    phase: str | None = None
    at: int | None = None
    moved_at: float = field(default_factory=time.monotonic)
    """When it last said how far it is."""

    @property
    def patience_seconds(self) -> float:
        """How long this call may hold up the loop when nobody else is in the process."""
        return self.patience.get(self.phase or "", math.inf)

    @property
    def is_stuck(self) -> bool:
        return self.at is not None and time.monotonic() - self.moved_at > self.item_seconds

    def take(self, message: Json) -> None:
        if "phase" in message:
            self.phase = str(message["phase"])[:40]
            self.at = int(message["at"]) if "at" in message else None
            self.moved_at = time.monotonic()
        elif not self.future.done():
            if "error" in message:
                if not (problem := mapping(message["error"])):
                    raise BadFrameError("an error that says nothing")
                self.future.set_exception(CallError(problem, self.phase, self.at))
            else:
                self.future.set_result(message["ok"])


Attach = Callable[[socket.socket, Egress, Secrets], Awaitable[Callable[[], Awaitable[None]]]]
"""Serve the gateway on a listener, with the way out that this sandbox has; what is returned
stops that again."""


class HostProcess:
    def __init__(self, spec: HostSpec, process: Process, control: socket.socket) -> None:
        self.spec = spec
        self.process = process
        self.control = control
        self.pending: dict[int, Pending] = {}
        self.dead: HostDied | None = None
        self.retired = False
        """It gets no further calls, for what its calls share is broken or one of them left
        something behind, and it ends once it is idle."""
        self.leaving: dict[int, asyncio.TimerHandle] = {}
        """Calls that nobody waits for any more."""
        self.closing: asyncio.Task[None] | None = None
        self.last_pong = time.monotonic()
        self.calls = 0
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.writer: asyncio.StreamWriter | None = None
        self.detach: Callable[[], Awaitable[None]] | None = None
        self.tasks: list[asyncio.Task[None]] = []
        self.killed_because: str | None = None
        self.late = False

    @classmethod
    async def start(cls, spec: HostSpec, sandbox: Sandbox, attach: Attach) -> "HostProcess":
        """A host that has loaded its revision."""
        ours, theirs = socket.socketpair()
        try:
            process = await sandbox.start(command_of(spec, theirs.fileno()))
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        host = cls(spec, process, ours)
        try:
            await host.connect(attach)
            await host.call("load", load_arguments(spec), seconds=spec.load_seconds)
        except BaseException:
            await host.close()
            raise
        return host

    async def connect(self, attach: Attach) -> None:
        loop = asyncio.get_running_loop()
        self.control.setblocking(False)
        listener = await self.receive_listener(loop)
        try:
            self.detach = await attach(listener, self.spec.egress, self.spec.secrets)
        except OSError as error:
            raise SandboxError(f"what the host handed out is no listener: {error}") from error
        reader, self.writer = await asyncio.open_connection(sock=self.control, limit=2**20)
        self.tasks = [
            loop.create_task(self.read(reader)),
            loop.create_task(self.watch()),
            loop.create_task(self.ping()),
        ]
        await asyncio.wait_for(asyncio.shield(self.ready), 120)

    @property
    def tail(self) -> str:
        """The last of what it printed."""
        return self.spec.secrets.redact_end(self.process.tail, cut=self.process.is_cut)

    async def receive_listener(self, loop: asyncio.AbstractEventLoop) -> socket.socket:
        arrived: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self.control.fileno(), lambda: arrived.done() or arrived.set_result(None))
        exited = loop.create_task(self.process.wait())
        try:
            await asyncio.wait({arrived, exited}, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        finally:
            loop.remove_reader(self.control.fileno())
        if not arrived.done():
            tail = self.tail.strip()[-500:]
            raise SandboxError(f"the sandbox did not start: {tail or 'no output'}")
        _, fds, _, _ = socket.recv_fds(self.control, 1, 1)
        if not fds:
            self.process.kill()
            await exited
            tail = self.tail.strip()[-500:]
            raise SandboxError(f"the sandbox did not start: {tail or 'no output'}")
        exited.cancel()
        return socket.socket(fileno=fds[0])

    async def read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                header = await reader.readexactly(HEADER.size)
                message = decode(await reader.readexactly(body_length(header)))
                # Here, for nothing that environment code says comes in another way but its tail.
                self.take(self.spec.secrets.redact_all(message))
        except (BadFrameError, KeyError, TypeError, ValueError, OverflowError) as error:
            self.kill(f"it broke the protocol: {error}")
        except (asyncio.IncompleteReadError, ConnectionError):
            # As a rule it is ending by itself, and its exit code says more than our signal would.
            await asyncio.sleep(EXIT_SECONDS)
            self.process.kill()

    def take(self, message: Json) -> None:
        self.last_pong = time.monotonic()
        if "pong" in message:
            return
        if message.get("retire"):
            self.retire()
            return
        if message.get("ready"):
            if not self.ready.done():
                self.ready.set_result(None)
            return
        call_id = int(message["id"])
        pending = self.pending.get(call_id)
        if pending is not None:
            pending.take(message)
        elif "phase" not in message and (left := self.leaving.pop(call_id, None)):
            left.cancel()

    def retire(self) -> None:
        self.retired = True
        if not self.pending and self.closing is None:
            self.closing = asyncio.get_running_loop().create_task(self.close())

    async def watch(self) -> None:
        code = await self.process.wait()
        why = self.killed_because or exit_words(code)
        self.bury(why)

    def bury(self, why: str) -> None:
        alone = len(self.pending) == 1
        tail = self.tail
        self.dead = HostDied(why, phase=None, alone=alone, tail=tail)
        for pending in self.pending.values():
            if not pending.future.done():
                died = HostDied(
                    why,
                    phase=pending.phase,
                    alone=alone,
                    tail=tail,
                    at=pending.at,
                    late=self.late,
                )
                pending.future.set_exception(died)
        if not self.ready.done():
            self.ready.set_exception(HostDied(why, phase="load", alone=True, tail=tail))

    async def ping(self) -> None:
        """A host that is silent with several calls in it is ended; a call alone has longer."""
        stall = self.spec.stall_seconds
        count = 0
        while self.dead is None:
            self.beat(count)
            count += 1
            await asyncio.sleep(min(PING_SECONDS, stall / 4))
            silent = time.monotonic() - self.last_pong
            held = max((p.patience_seconds for p in self.pending.values()), default=math.inf)
            limit = stall if len(self.pending) > 1 else max(stall, held)
            if silent > limit * 1.25:
                self.kill(f"environment code held it up for {silent:.0f} s", late=True)
            for stuck in [each for each in self.pending.values() if each.is_stuck]:
                self.kill(f"it went on for over {stuck.item_seconds:g} s", late=True)

    def beat(self, count: int) -> None:
        """Its stack is printed before it is ended for staying at one item."""
        soonest = min((p.item_seconds for p in self.pending.values()), default=math.inf)
        self.send({"ping": count, "stall": min(self.spec.stall_seconds, soonest * TOLD_BEFORE)})

    def send(self, message: Json) -> None:
        if self.writer is not None and not self.writer.is_closing():
            self.writer.write(encode(message))

    async def call(
        self,
        name: str,
        args: Json,
        *,
        seconds: float,
        patience: Mapping[str, float] = NO_LIMITS,
        item_seconds: float = math.inf,
    ) -> Any:
        """The answer to one call; past its time the call is cancelled, then the host ended.

        `patience` says per phase how long the call may hold up the loop, `item_seconds` how
        long it may stay at one of its items, waiting or not, before the host is ended.
        """
        if self.dead is not None:
            # It died of another call: this one was never in it.
            raise HostDied(self.dead.why, phase=None, alone=False, tail=self.dead.tail)
        self.calls += 1
        call_id = self.calls
        pending = Pending(asyncio.get_running_loop().create_future(), patience, item_seconds)
        self.pending[call_id] = pending
        if item_seconds < math.inf:
            self.beat(0)
        try:
            self.send({"id": call_id, "call": name, "args": args})
            done, _ = await asyncio.wait({pending.future}, timeout=seconds)
            if not done:
                self.send({"id": call_id, "cancel": True})
                done, _ = await asyncio.wait({pending.future}, timeout=CANCEL_SECONDS)
                if not done:
                    self.kill(f"environment code did not end within {seconds:.0f} s", late=True)
                with contextlib.suppress(CallError):
                    await pending.future
                raise HostDied(
                    f"{name} did not end within {seconds:.0f} s",
                    phase=pending.phase,
                    alone=True,
                    tail=self.tail,
                    at=pending.at,
                    late=True,
                )
            return pending.future.result()
        except asyncio.CancelledError:
            self.send({"id": call_id, "cancel": True})
            if not pending.future.done():
                loop = asyncio.get_running_loop()
                self.leaving[call_id] = loop.call_later(CANCEL_SECONDS, self.retire)
            raise
        finally:
            del self.pending[call_id]
            if self.retired:
                self.retire()
            if pending.future.done() and not pending.future.cancelled():
                pending.future.exception()

    def kill(self, why: str, *, late: bool = False) -> None:
        if self.killed_because is None:
            self.killed_because, self.late = why, late
        self.process.kill()

    async def close(self) -> None:
        """End it; its answers no longer matter."""
        self.ready.cancel()
        self.kill("it was closed")
        for left in self.leaving.values():
            left.cancel()
        detach, self.detach = self.detach, None
        if detach is not None:
            await detach()
        if self.writer is not None:
            self.writer.close()
        else:
            self.control.close()
        await self.process.wait()
        for task in self.tasks:
            task.cancel()


def load_arguments(spec: HostSpec) -> Json:
    return {"module": spec.source.module, "args": spec.args, "turns": spec.turns}


def command_of(spec: HostSpec, control_fd: int) -> Command:
    venv, source = spec.venv, spec.source
    mounts, scratch, laid_out = mounts_of(spec.cache)
    return Command(
        argv=(
            *(str(venv.python), "-X", "faulthandler", "-m", "envwright_host"),
            *(str(control_fd), str(spec.confinement.memory_bytes)),
            *(str(spec.confinement.processes), venv.kind, *laid_out),
        ),
        mounts=(
            *venv.mounts,
            Mount(spec.package),
            Mount(source.folder),
            *mounts,
        ),
        scratch=scratch,
        variables={
            "HOME": "/tmp",
            "PATH": f"{venv.folder}/bin:/usr/bin:/bin",
            "PYTHONPATH": os.pathsep.join([str(spec.package), str(source.import_path)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "LANG": "C.UTF-8",
            **({} if spec.hash_seed is None else {"PYTHONHASHSEED": str(spec.hash_seed)}),
            "OPENBLAS_NUM_THREADS": "1",
            **(OFFLINE if spec.egress.mode is Mode.NONE else {}),
            **(spec.cache.variables() if spec.cache else {}),
            "ANTHROPIC_API_KEY": "none",
            "OPENAI_API_KEY": "none",
            "PRIME_API_KEY": "none",
        },
        secrets=spec.secrets.values,
        passed_fds=(control_fd,),
        confinement=spec.confinement,
    )


def mounts_of(
    cache: Cache | None,
) -> tuple[tuple[Mount, ...], tuple[Path, ...], tuple[str, ...]]:
    """What a sandbox sees of the cache, and what its host is to lay out."""
    if cache is None:
        return (), (), ()
    if cache.filling:
        return (Mount(cache.folder, writable=True),), (), ()
    laid_out = (str(cache.kept), str(cache.folder))
    return (Mount(cache.folder, at=cache.kept),), (cache.folder,), laid_out


def exit_words(code: int) -> str:
    # bubblewrap reports a child that a signal ended as 128 + its number.
    number = -code if code < 0 else code - 128 if code > 128 else None
    if number == 9:
        return "it was killed (out of memory, or by itself)"
    if number is not None:
        return f"signal {number} ended it"
    return f"environment code ended it with exit code {code}"
