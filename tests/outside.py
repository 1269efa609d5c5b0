"""A server outside, and a sandbox whose only way there is the proxy on its listener."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from envwright.environment.egress import Egress, Mode, Verdict
from envwright.environment.secret import NO_SECRETS, Secrets
from envwright.gateway import Gateway, proxy

HELLO = b"hello from outside"


class Greeter(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.seen.append((self.path, dict(self.headers)))
        self.send_response(200)
        self.send_header("content-length", str(len(HELLO)))
        self.end_headers()
        self.wfile.write(HELLO)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append((self.path, sent))
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(address: str = "127.0.0.1") -> Iterator[ThreadingHTTPServer]:
    """A web server on loopback; `seen` is what it was asked."""
    server = ThreadingHTTPServer((address, 0), Greeter)
    server.daemon_threads = True
    server.seen = []
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class Sandbox:
    """What code in a sandbox can do with its listener."""

    def __init__(self, gateway: Gateway, port: int) -> None:
        self.gateway = gateway
        self.port = port

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def send(self, *parts: bytes) -> bytes:
        """The answer to these bytes, up to its end."""
        reader, writer = await self.open()
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
            return await asyncio.wait_for(reader.read(), 10)
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async def connect(self, target: str, then: bytes = b"") -> tuple[int, bytes]:
        return split(await self.send(f"CONNECT {target} HTTP/1.1\r\n\r\n".encode(), then))

    async def get(self, url: str, headers: str = "") -> tuple[int, bytes]:
        host = url.split("/")[2]
        head = f"GET {url} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n"
        return split(await self.send(head.encode()))

    def seen(self) -> dict[tuple[str, int], Verdict]:
        return {(t.host, t.port): t.verdict for t in self.gateway.tally.since({})}


def split(answer: bytes) -> tuple[int, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]) if head else 0, body


def code_of(body: bytes) -> str:
    return json.loads(body)["error"]["code"]


@asynccontextmanager
async def standing(
    way: Egress,
    names: dict[str, list[str]] | None = None,
    say: Callable[[str], None] | None = None,
    secrets: Secrets = NO_SECRETS,
) -> AsyncIterator[Sandbox]:
    """A sandbox before its gateway; `names` are what the world calls which addresses."""

    async def resolve(host: str, port: int) -> list[str]:
        if names is not None and host in names:
            return names[host]
        return await system(host, port)

    gateway = Gateway({}, None, say, resolve)
    system = proxy.Resolver()
    listener = socket.create_server(("127.0.0.1", 0))
    detach = await gateway.attach(listener, way, secrets)
    try:
        yield Sandbox(gateway, listener.getsockname()[1] if listener.fileno() >= 0 else 0)
    finally:
        await detach()
        system.close()
        await gateway.close()


def inside(
    scene: Callable[[Sandbox], Any], way: Egress, names: dict[str, list[str]] | None = None
) -> None:
    async def main() -> None:
        async with standing(way, names) as sandbox:
            await scene(sandbox)

    asyncio.run(asyncio.wait_for(main(), 60))


def allow(*entries: str) -> Egress:
    return Egress(mode=Mode.ALLOWLIST, allow=entries)


OPEN = Egress(mode=Mode.OPEN)
