"""The host's call loop: frames in, calls run side by side, frames out.

A `SystemExit` or `KeyboardInterrupt` in environment code ends that call, not the loop.
Answers are written at once and whole, so that what was reached is known outside even
when the next line hangs for ever.
"""

import asyncio
import contextlib
import gc
import importlib
import json
import socket
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from envwright_host.frames import HEADER, BadFrameError, body_length, decode, pack
from envwright_host.leftover import now_ticks, runs_since
from envwright_host.watchdog import Watchdog


class Phase(Protocol):
    """Tell what a call has come to, and how many of its items lie behind it."""

    def __call__(self, name: str, at: int | None = None) -> None: ...


Call = Callable[[dict[str, Any], Phase], Awaitable[Any]]


MODEL = "agent"
"""The only model name that environment code sees: it could pay by name otherwise."""

CALLS = ("load", "describe", "tasks", "score", "validate", "run")
"""What a host answers; a dialect that has no method for one does not serve it."""
DIALECTS = {
    "verifiers": "envwright_host.verifiers_v1",
    "verifiers-v0": "envwright_host.verifiers_v0",
}
"""By the kind of environment: the module whose `Dialect` serves it."""


class Refused(Exception):
    """The dialect names the cause itself: `cause` and an optional hint travel with it."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class Wire:
    """The control socket: blocking writes, so that a frame is out before the code goes on."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control

    def send(self, message: dict[str, Any]) -> None:
        try:
            body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
            frame = pack(body)
        except (ValueError, BadFrameError) as error:
            problem = {"type": type(error).__name__, "message": str(error), "cause": "environment"}
            frame = pack(json.dumps({"id": message.get("id"), "error": problem}).encode())
        self.send_bytes(frame)

    def send_bytes(self, frame: bytes) -> None:
        self.control.setblocking(True)
        self.control.sendall(frame)


class Server:
    def __init__(self, control: socket.socket, kind: str) -> None:
        self.wire = Wire(control)
        self.kind = kind
        self.watchdog = Watchdog()
        self.running: dict[int, asyncio.Task[None]] = {}
        self.calls: dict[str, Call] = {}
        self.is_tired: Callable[[], bool] = lambda: False

    async def run(self, reader: asyncio.StreamReader) -> None:
        # Only the dialect imports verifiers, of which a venv has one version.
        async with importlib.import_module(DIALECTS[self.kind]).Dialect() as dialect:
            self.calls = {name: getattr(dialect, name) for name in CALLS if hasattr(dialect, name)}
            self.is_tired = lambda: dialect.tired
            # What is imported stays.
            gc.freeze()
            gc.enable()
            self.wire.send({"ready": True})
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    header = await reader.readexactly(HEADER.size)
                    self.dispatch(decode(await reader.readexactly(body_length(header))))
            for task in self.running.values():
                task.cancel()

    def dispatch(self, message: dict[str, Any]) -> None:
        if "ping" in message:
            self.watchdog.beat(float(message["stall"]))
            self.wire.send({"pong": message["ping"]})
            return
        call_id = int(message["id"])
        if message.get("cancel"):
            if (task := self.running.get(call_id)) is not None:
                task.cancel()
            return
        task = asyncio.get_running_loop().create_task(self.answer(call_id, message))
        self.running[call_id] = task
        task.add_done_callback(lambda _: self.running.pop(call_id, None))

    async def answer(self, call_id: int, message: dict[str, Any]) -> None:
        def phase(name: str, at: int | None = None) -> None:
            how_far = {} if at is None else {"at": at}
            self.wire.send({"id": call_id, "phase": name, **how_far})

        begun = now_ticks()
        try:
            result = await self.calls[message["call"]](message["args"], phase)
            if self.is_tired():
                self.wire.send({"retire": True})
            frame = (
                pack(b'{"id":%d,"ok":%b}' % (call_id, result))
                if isinstance(result, bytes)
                else None
            )
        except asyncio.CancelledError:
            if runs_since(begun):
                self.wire.send({"retire": True})
            self.wire.send(
                {"id": call_id, "error": problem_of(asyncio.CancelledError("cancelled"))}
            )
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - the call loop
            self.wire.send({"id": call_id, "error": problem_of(error)})
        else:
            if frame:
                self.wire.send_bytes(frame)
            else:
                self.wire.send({"id": call_id, "ok": result})


def lacking(error: ModuleNotFoundError, module: str) -> Refused | None:
    """What to say when a module that the environment imports is missing, not its own."""
    missing = getattr(error.__cause__, "name", None) or error.name
    if not missing or missing == module:
        return None
    return Refused(
        "environment",
        f"it imports {missing!r}, which is not installed: "
        f"declare it in the dependencies of its pyproject.toml",
    )


def problem_of(error: BaseException) -> dict[str, Any]:
    return {
        "type": type(error).__name__,
        "message": str(error),
        "cause": error.cause if isinstance(error, Refused) else "environment",
        "traceback": "".join(traceback.format_exception(error))[-20_000:],
    }


def serve(control: socket.socket, kind: str) -> None:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    async def main() -> None:
        # A duplicate for reading: asyncio makes its end non-blocking, ours stays as it is.
        reader, _ = await asyncio.open_connection(sock=control.dup(), limit=2**20)
        await Server(control, kind).run(reader)

    task = loop.create_task(main())
    while not task.done():
        try:
            loop.run_until_complete(task)
        except (SystemExit, KeyboardInterrupt):
            continue
