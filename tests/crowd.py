"""A provider in a process of its own that rate-limits, and writes down who asked it when.

`python crowd.py LOG SEED` prints its URL and serves until it is killed. Each line of the log
is one request: when it came, from which process, for what, what it was answered and when that
was read. It knows the process by the connection's port, so that nobody has to tell, and the
times from the kernel, so that a busy machine does not blur them. All are of the machine's
monotonic clock, which every process shares.
"""

import asyncio
import json
import os
import random
import socket
import struct
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, TextIO

from aiohttp import web

ANSWER_SECONDS = 0.3
USAGE = (10, 5)
LIMITED_ONE_IN = 30
"""So rarely does a request find that there were too many."""
PATIENCE = (1, 2, 3, 4, 5)
"""Seconds of a Retry-After."""
LOOKS = 10
LAST_DATA_RECEIVED = 52
"""Where it is in the kernel's `tcp_info`."""


def other_end(port: int) -> list[str] | None:
    """What the kernel says of the socket with this port, on this machine."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].rpartition(":")[2], 16) == port:
            return fields
    return None


def inode_of(port: int) -> str | None:
    fields = other_end(port)
    return fields[9] if fields else None


def unread(port: int) -> bool:
    """Whether there is something that the other end has not read, and is there to read."""
    fields = other_end(port)
    return bool(fields and fields[9] != "0" and int(fields[4].rpartition(":")[2], 16))


def is_alive(pid: int | None) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def arrived(connection: Any) -> float:
    """When the last bytes came, whenever they are looked at."""
    info = connection.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    (milliseconds,) = struct.unpack_from("I", info, LAST_DATA_RECEIVED)
    return time.monotonic() - milliseconds / 1000


def has_socket(pid: int, inode: str | None) -> bool:
    link = f"socket:[{inode}]"
    try:
        return any(os.readlink(each) == link for each in Path(f"/proc/{pid}/fd").iterdir())  # noqa: PTH115
    except OSError:
        return False


def process_with(port: int, known: set[int]) -> int | None:
    """The process at the other end; those that are known already are looked at first."""
    inode = inode_of(port)
    others = (int(each.name) for each in Path("/proc").glob("[0-9]*"))
    return next((pid for pid in [*known, *others] if has_socket(pid, inode)), None)


class Crowd:
    def __init__(self, log: TextIO, seed: int) -> None:
        self.log = log
        self.chance = random.Random(seed)
        self.limited_until: defaultdict[str, float] = defaultdict(float)
        self.callers: dict[Any, int | None] = {}
        """Connection → the process at its other end."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        at = arrived(request.transport)
        body = await request.json()
        model, said = body["model"], body["messages"][-1]["content"]
        caller = await self.caller(request.transport)
        line = {"at": at, "pid": caller, "model": model, "said": said}
        try:
            response = await self.reply(model, line)
            if response.status == 429:
                await response.prepare(request)
                await response.write_eof()
                line["read"] = await self.read_at(request.transport)
            return response
        finally:
            self.log.write(json.dumps(line) + "\n")
            self.log.flush()

    async def read_at(self, connection: Any) -> float | None:
        """When the other end has read all; None when it died before."""
        port = connection.get_extra_info("peername")[1]
        while unread(port):
            await asyncio.sleep(0.01)
        return time.monotonic() if is_alive(self.callers[connection]) else None

    async def caller(self, connection: Any) -> int | None:
        port = connection.get_extra_info("peername")[1]
        for _ in range(LOOKS):
            if self.callers.get(connection) is not None:
                break
            # The kernel's list is not read in one go: a socket may be missing in it.
            known = {pid for pid in self.callers.values() if pid is not None}
            self.callers[connection] = await asyncio.to_thread(process_with, port, known)
        return self.callers[connection]

    async def reply(self, model: str, line: dict[str, Any]) -> web.Response:
        now = time.monotonic()
        if now >= self.limited_until[model] and self.chance.randrange(LIMITED_ONE_IN) == 0:
            self.limited_until[model] = now + self.chance.choice(PATIENCE)
        left = self.limited_until[model] - now
        if left > 0:
            # In whole seconds, as the header wants it: a little too long at most.
            wait = int(left) + 1 if left % 1 else int(left)
            line |= {"status": 429, "wait": wait, "answered": time.monotonic()}
            words = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
            return web.json_response(words, status=429, headers={"Retry-After": str(wait)})
        line["status"] = None
        await asyncio.sleep(ANSWER_SECONDS * self.chance.uniform(0.7, 1.3))
        line |= {"status": 200, "answered": time.monotonic()}
        return web.json_response(completion(model))


def completion(model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": "done"}
    asked, said = USAGE
    return {
        **{"id": "x", "object": "chat.completion", "created": 1, "model": model},
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


async def main(log: str, seed: str) -> None:
    with Path(log).open("a") as file:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", Crowd(file, int(seed)).handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}/v1\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
