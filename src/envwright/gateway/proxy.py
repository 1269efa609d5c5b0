"""`Proxy`: the way out of one sandbox: `CONNECT`, and plain http with a whole URL.

Names are looked up here, every address is judged, and the connection is made to one that
was: a name that means another machine a moment later gains nothing. One request per
connection. A flood is bounded: by connections, by the size and time of a request's head,
by silence and by length of life; look-ups have threads of their own.
"""

import asyncio
import contextlib
import json
import re
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from envwright.environment.egress import Egress, Verdict, host_of
from envwright.environment.secret import Secrets
from envwright.gateway.tally import Line, Tally

LARGEST_HEAD_BYTES = 16 * 1024
HEAD_SECONDS = 15.0
LOOKUP_SECONDS = 10.0
CONNECT_SECONDS = 10.0
CLOSE_SECONDS = 15.0
MOST_ADDRESSES = 4
IDLE_SECONDS = 300.0
LIFE_SECONDS = 3600.0
MOST_CONNECTIONS = 64
CHUNK_BYTES = 64 * 1024

AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]@/]*)(:(?P<port>[0-9]{1,5}))?")
HEADER = re.compile(rb"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?P<value>[^\0\r\n]*)")
METHOD = re.compile(rb"[A-Z]{1,20}")
NOT_PASSED = {b"connection", b"keep-alive", b"host", b"te", b"upgrade"}
STATUSES = {
    Verdict.UNKNOWN: 502,
    Verdict.UNREACHABLE: 502,
    Verdict.TOO_MANY: 429,
    Verdict.MALFORMED: 400,
}
CODES = {
    Verdict.UNKNOWN: "no_such_host",
    Verdict.UNREACHABLE: "not_reachable",
    Verdict.TOO_MANY: "too_many_connections",
    Verdict.MALFORMED: "bad_request",
}

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""A name's addresses; `OSError` when it has none."""


class Refused(Exception):
    """The proxy's own answer."""

    def __init__(self, verdict: Verdict, words: str, status: int | None = None) -> None:
        super().__init__(words)
        self.verdict = verdict
        self.status = status or STATUSES.get(verdict, 403)
        self.code = CODES.get(verdict, "egress_refused")


@dataclass(frozen=True, slots=True)
class Asked:
    host: str
    port: int
    head: bytes
    """What the other side is sent first; empty for a tunnel."""


class Resolver:
    """Look-ups in threads of their own: slow ones hold up nothing else."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="lookup")

    async def __call__(self, host: str, port: int) -> list[str]:
        def look_up() -> list[Any]:
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)

        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        return list(dict.fromkeys(str(each[4][0]) for each in found))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class Proxy:
    def __init__(self, egress: Egress, secrets: Secrets, tally: Tally, resolve: Resolve) -> None:
        self._egress = egress
        self._secrets = secrets
        self._tally = tally
        self._resolve = resolve
        self._serving: set[asyncio.Task[None]] = set()

    def __call__(self) -> asyncio.Protocol:
        """A protocol for one connection."""
        reader = asyncio.StreamReader(limit=LARGEST_HEAD_BYTES)
        return asyncio.StreamReaderProtocol(reader, self._begin)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def close(self) -> None:
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked: Asked | None = None
        try:
            if len(self._serving) > MOST_CONNECTIONS:
                raise Refused(Verdict.TOO_MANY, f"{MOST_CONNECTIONS} connections are the most")
            asked = await read_asked(reader)
            addresses = await self._judge(asked.host, asked.port)
            out = await self._connect(asked, addresses)
            line = self._count(asked, Verdict.ALLOWED)
            await relay(reader, writer, out, asked.head, line)
        except Refused as refused:
            self._count(asked, refused.verdict)
            await refuse(writer, refused)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            # One of the two sides has gone; there is nobody to tell.
            writer.transport.abort()
        finally:
            writer.close()
            # Whoever does not read what is left does not keep it either.
            asyncio.get_running_loop().call_later(CLOSE_SECONDS, writer.transport.abort)

    def _count(self, asked: Asked | None, verdict: Verdict) -> Line:
        host = self._secrets.redact(asked.host) if asked else "(none)"
        return self._tally.count(host, asked.port if asked else 0, verdict)

    async def _judge(self, host: str, port: int) -> list[str]:
        """The addresses to connect to; `Refused` when there are none."""
        place = f"{host}:{port}"
        verdict = self._egress.judge_name(host, port)
        if verdict is Verdict.ALLOWED:
            try:
                async with asyncio.timeout(LOOKUP_SECONDS):
                    addresses = await self._resolve(host, port)
            except (OSError, TimeoutError, UnicodeError) as error:
                raise Refused(Verdict.UNKNOWN, f"{place} cannot be looked up") from error
            if not addresses:
                raise Refused(Verdict.UNKNOWN, f"{place} has no address")
            verdict = self._egress.judge_addresses(host, port, addresses)
            if verdict is Verdict.ALLOWED:
                return addresses[:MOST_ADDRESSES]
        raise Refused(verdict, f"egress to {place} is refused: {verdict}")

    async def _connect(self, asked: Asked, addresses: list[str]) -> socket.socket:
        """A connection to the first that answers."""
        place = f"{asked.host}:{asked.port}"
        for address in addresses:
            try:
                out = await connect(address, asked.port)
            except (OSError, TimeoutError):
                continue
            own = out.getsockname()[0] == out.getpeername()[0]
            if own and not self._egress.is_exact(asked.host, asked.port):
                out.close()
                # A public address, and yet our own: what listens on this machine is not public.
                raise Refused(Verdict.NOT_PUBLIC, f"egress to {place} is refused: this machine")
            return out
        raise Refused(Verdict.UNREACHABLE, f"{place} cannot be reached")


async def connect(address: str, port: int) -> socket.socket:
    out = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        out.setblocking(False)
        async with asyncio.timeout(CONNECT_SECONDS):
            await asyncio.get_running_loop().sock_connect(out, (address, port))
    except BaseException:
        out.close()
        raise
    return out


async def read_asked(reader: asyncio.StreamReader) -> Asked:
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        words = f"a request's head is {LARGEST_HEAD_BYTES} bytes at the most"
        raise Refused(Verdict.MALFORMED, words, 431) from error
    except TimeoutError as error:
        raise Refused(Verdict.MALFORMED, "the request's head did not come", 408) from error
    return parse_head(head)


def parse_head(head: bytes) -> Asked:
    """Where a request wants to go, and what it looks like there."""
    request, *lines = head.lstrip(b"\r\n")[:-4].split(b"\r\n")
    parts = request.split(b" ")
    if len(parts) != 3 or not METHOD.fullmatch(parts[0]) or parts[2][:7] != b"HTTP/1.":
        raise Refused(Verdict.MALFORMED, "the request line is none")
    headers = [HEADER.fullmatch(line) for line in lines]
    if not all(headers):
        raise Refused(Verdict.MALFORMED, "a header is none")
    method, target = parts[0], parts[1].decode("ascii", "replace")
    if method == b"CONNECT":
        host, port = parse_authority(target, None)
        return Asked(host, port, b"")
    try:
        url = urlsplit(target)
    except ValueError as error:
        raise Refused(Verdict.MALFORMED, "the URL is none") from error
    if url.scheme != "http":
        raise Refused(Verdict.MALFORMED, "only http:// URLs are forwarded; use CONNECT for others")
    host, port = parse_authority(url.netloc, 80)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    if re.search(r"[^\x21-\x7e]", path):
        raise Refused(Verdict.MALFORMED, "the URL is none")
    kept = [f"{method.decode()} {path} HTTP/1.1".encode(), f"Host: {url.netloc}".encode()]
    for header in headers:
        assert header is not None
        name = header["name"].lower()
        if name not in NOT_PASSED and not name.startswith(b"proxy-"):
            kept.append(header.group())
    # One request per connection: what follows its body reaches nobody else.
    return Asked(host, port, b"\r\n".join([*kept, b"Connection: close", b"", b""]))


def parse_authority(text: str, port: int | None) -> tuple[str, int]:
    found = AUTHORITY.fullmatch(text)
    host = host_of(found["host"]) if found else None
    number = int(found["port"]) if found and found["port"] else port
    if host is None or number is None or not 0 < number < 65536:
        raise Refused(Verdict.MALFORMED, "HOST:PORT is expected")
    return host, number


async def relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    out: socket.socket,
    head: bytes,
    line: Line,
) -> None:
    """Both ways, until the other side has said all; no longer than it may last."""
    loop = asyncio.get_running_loop()
    end = loop.time() + LIFE_SECONDS
    try:
        back, there = await asyncio.open_connection(sock=out, limit=CHUNK_BYTES)
    except BaseException:
        out.close()
        raise
    async with asyncio.timeout(IDLE_SECONDS) as patience:

        def alive() -> None:
            patience.reschedule(min(loop.time() + IDLE_SECONDS, end))

        async def send() -> None:
            try:
                while chunk := await reader.read(CHUNK_BYTES):
                    line.sent += len(chunk)
                    alive()
                    there.write(chunk)
                    await there.drain()
                if there.can_write_eof():
                    there.write_eof()
            except OSError:
                # The sandbox let go of it: nobody waits for the rest.
                there.transport.abort()

        if head:
            line.sent += len(head)
            there.write(head)
        else:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        sending = loop.create_task(send())
        try:
            while chunk := await back.read(CHUNK_BYTES):
                line.received += len(chunk)
                alive()
                writer.write(chunk)
                await writer.drain()
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            there.transport.abort()


async def refuse(writer: asyncio.StreamWriter, refused: Refused) -> None:
    body = json.dumps({"error": {"code": refused.code, "message": str(refused)}}).encode()
    reason = "Egress refused" if refused.status == 403 else "Not served"
    head = (
        f"HTTP/1.1 {refused.status} {reason}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError, TimeoutError):
        writer.write(head.encode() + body)
        async with asyncio.timeout(HEAD_SECONDS):
            await writer.drain()
