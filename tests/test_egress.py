"""The way out of a sandbox: what may leave, what may not, and what is told of it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from bed import Bed, make_bed
from envwright.agent import AgentKind, AgentSpec
from envwright.environment import egress
from envwright.environment.egress import Egress, Mode, Rule, Verdict, host_of, is_public
from envwright.environment.secret import NO_SECRETS, Secrets
from envwright.errors import UsageError
from envwright.gateway import Gateway, Grant, front, proxy
from envwright.settings import read_settings
from envwright.trial.plan import Plan, trials_of
from provider import Provider, Reply
from stage import Door, always, model_at, play
from support import make_environment
from tongue import CHAT, MESSAGES, RESPONSES, Tongue

HELLO = b"hello from outside"


class Greeter(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.seen.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("content-length", str(len(HELLO)))
        self.end_headers()
        self.wfile.write(HELLO)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append((self.path, sent))  # type: ignore[attr-defined]
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(address: str = "127.0.0.1") -> Iterator[ThreadingHTTPServer]:
    """A web server on loopback; `seen` is what it was asked."""
    server = ThreadingHTTPServer((address, 0), Greeter)
    server.daemon_threads = True
    server.seen = []  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture(scope="module")
def web() -> Iterator[ThreadingHTTPServer]:
    with served() as server:
        yield server


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


@pytest.mark.parametrize(
    ("entry", "host", "port", "admitted"),
    [
        ("api.example.com", "api.example.com", 443, True),
        ("api.example.com", "api.example.com", 80, True),
        ("api.example.com", "api.example.com", 22, False),
        ("api.example.com:22", "api.example.com", 22, True),
        ("api.example.com:22", "api.example.com", 443, False),
        ("API.Example.com", "api.example.com", 443, True),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "evilexample.org", 443, False),
        ("*.example.org:8443", "a.example.org", 443, False),
        ("example.org", "example.org.evil.net", 443, False),
        ("10.0.0.5:8000", "10.0.0.5", 8000, True),
        ("[fd00::0:1]:8000", "fd00::1", 8000, True),
    ],
)
def test_an_entry_admits_what_it_names(entry: str, host: str, port: int, admitted: bool):
    assert Rule.parse(entry).admits(host, port) is admitted
    verdict = allow(entry).judge_name(host, port)
    assert verdict is (Verdict.ALLOWED if admitted else Verdict.NOT_LISTED)


@pytest.mark.parametrize(
    "entry",
    [
        *("", "*", "*.", "http://x.org", "x.org/path", "x.org:0", "x.org:99999", "a b", "x..org"),
        *("user@x.org", "[::1", "::1", "*.10.0.0.5", "a.*.org", "-x.org", "x.org:", "ü.org"),
    ],
)
def test_an_entry_that_names_no_host_is_refused(entry: str):
    with pytest.raises(ValueError, match="is no host"):
        Rule.parse(entry)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fd00::1", "fc00::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe"),
        *("", "localhost", "1.2.3"),
    ],
)
def test_an_address_that_is_not_public_is_known_in_every_wrapping(address: str):
    assert not is_public(address)
    for way in (OPEN, allow("x.org")):
        verdict = way.judge_addresses("x.org", 443, ["93.184.215.14", address])
        assert verdict is Verdict.NOT_PUBLIC


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700::1111", "::ffff:93.184.215.14"])
def test_a_public_address_is_public(address: str):
    assert is_public(address)


def test_only_an_exact_entry_lifts_the_ban_on_private_addresses():
    for entry in ("x.org", "*.x.org:443", "*.org"):
        assert allow(entry).judge_addresses("x.org", 443, ["10.0.0.1"]) is Verdict.NOT_PUBLIC
    for way in (allow("x.org:443"), Egress(mode=Mode.OPEN, allow=("x.org:443",))):
        assert way.judge_addresses("x.org", 443, ["10.0.0.1"]) is Verdict.ALLOWED
        assert way.judge_addresses("x.org", 444, ["10.0.0.1"]) is Verdict.NOT_PUBLIC


@pytest.mark.parametrize("text", ["a%b", "a\0b", "[::1%lo]", "a" * 254, "", "[x]", "a/b", "a@b"])
def test_what_is_no_host_is_none(text: str):
    assert host_of(text) is None


def test_without_egress_nothing_leaves_and_it_is_told(web: ThreadingHTTPServer):
    said: list[str] = []

    async def main() -> None:
        async with standing(Egress(), say=said.append) as sandbox:
            for _ in range(3):
                status, body = await sandbox.connect("api.example.com:443")
                assert (status, code_of(body)) == (403, "egress_refused")
            status, body = await sandbox.get(f"http://127.0.0.1:{web.server_port}/")
            assert (status, code_of(body)) == (403, "egress_refused")
            traffic = sandbox.gateway.tally.since({})
            assert [(t.host, t.connections, t.verdict) for t in traffic] == [
                ("api.example.com", 3, Verdict.NO_EGRESS),
                ("127.0.0.1", 1, Verdict.NO_EGRESS),
            ]

    asyncio.run(main())
    assert len(said) == 2
    assert "api.example.com:443: no egress. hint: egress and allow" in said[0]


def test_what_is_allowed_goes_through_both_ways_and_is_counted(web: ThreadingHTTPServer):
    place = f"127.0.0.1:{web.server_port}"
    request = f"GET /tunnel HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n".encode()

    async def scene(sandbox: Sandbox) -> None:
        before = sandbox.gateway.tally.seen()
        status, body = await sandbox.connect(place, request)
        assert status == 200
        assert body.endswith(HELLO)
        (traffic,) = sandbox.gateway.tally.since(before)
        assert (traffic.verdict, traffic.sent_bytes) == (Verdict.ALLOWED, len(request))
        assert traffic.received_bytes == len(body)
        more = "Proxy-Authorization: x\r\nX-Own: 1\r\nConnection: keep-alive\r\n"
        status, body = await sandbox.get(f"http://{place}/plain?q=1", more)
        assert (status, body) == (200, HELLO)
        path, headers = web.seen[-1]  # type: ignore[attr-defined]
        assert (path, headers["Host"], headers["X-Own"]) == ("/plain?q=1", place, "1")
        assert headers["Connection"] == "close"
        assert "Proxy-Authorization" not in headers

    inside(scene, allow(place))


def test_a_body_is_forwarded(web: ThreadingHTTPServer):
    place = f"127.0.0.1:{web.server_port}"
    head = f"POST http://{place}/p HTTP/1.1\r\nHost: {place}\r\nContent-Length: 300000\r\n\r\n"

    async def scene(sandbox: Sandbox) -> None:
        status, body = split(await sandbox.send(head.encode(), b"x" * 300_000))
        assert (status, body) == (200, HELLO)
        assert ("/p", b"x" * 300_000) in web.seen  # type: ignore[attr-defined]

    inside(scene, allow(place))


@pytest.mark.parametrize("way", [OPEN, allow("*.test", "fine.test")], ids=["open", "allowlist"])
def test_private_places_are_refused_under_every_name(way: Egress, web: ThreadingHTTPServer):
    port = web.server_port
    names = {"sub.test": ["127.0.0.1"], "fine.test": ["93.184.215.14", "10.0.0.1"]}
    targets = [
        *(f"{h}:{port}" for h in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1")),
        *(f"{h}:{port}" for h in ("[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "0177.0.0.1")),
        *("169.254.169.254:80", "[fe80::1]:80", "sub.test:443", "fine.test:443", "SUB.test.:80"),
    ]

    async def scene(sandbox: Sandbox) -> None:
        for target in targets:
            status, body = await sandbox.connect(target, b"GET / HTTP/1.0\r\n\r\n")
            assert status in (403, 502), target
            assert code_of(body) in ("egress_refused", "no_such_host"), target
            status, body = await sandbox.get(f"http://{target}/")
            assert status in (403, 502), target
            assert HELLO not in body
        assert not {v for v in sandbox.seen().values()} & {Verdict.ALLOWED}
        assert sandbox.seen()["sub.test", 443] is Verdict.NOT_PUBLIC
        assert sandbox.seen()["fine.test", 443] is Verdict.NOT_PUBLIC

    before = len(web.seen)  # type: ignore[attr-defined]
    inside(scene, way, names)
    assert len(web.seen) == before  # type: ignore[attr-defined]


def test_this_machine_is_refused_under_a_public_address_too(
    web: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(egress, "is_public", lambda address: True)

    async def scene(sandbox: Sandbox) -> None:
        status, body = await sandbox.get(f"http://127.0.0.1:{web.server_port}/")
        assert (status, code_of(body)) == (403, "egress_refused")
        assert b"this machine" in body

    inside(scene, OPEN)


def test_the_address_that_was_judged_is_the_one_that_is_connected_to(web: ThreadingHTTPServer):
    """A name is looked up once: a second answer would never be judged."""
    asked: list[str] = []
    place = f"rebind.test:{web.server_port}"

    async def main() -> None:
        async def resolve(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

        gateway = Gateway({}, resolve=resolve)
        listener = socket.create_server(("127.0.0.1", 0))
        sandbox = Sandbox(gateway, listener.getsockname()[1])
        detach = await gateway.attach(listener, allow(place))
        status, body = await sandbox.get(f"http://{place}/")
        assert (status, body) == (200, HELLO)
        await detach()
        await gateway.close()

    asyncio.run(main())
    assert asked == ["rebind.test"]


@pytest.mark.parametrize(
    ("request_", "statuses"),
    [
        (b"CONNECT x.org HTTP/1.1\r\n\r\n", (400,)),
        (b"CONNECT x.org:0 HTTP/1.1\r\n\r\n", (400,)),
        (b"CONNECT x.org:443:443 HTTP/1.1\r\n\r\n", (400,)),
        (b"CONNECT user@x.org:443 HTTP/1.1\r\n\r\n", (400,)),
        (b"CONNECT /v1/models HTTP/1.1\r\n\r\n", (400,)),
        (b"CONNECT [::1%25lo]:80 HTTP/1.1\r\n\r\n", (400,)),
        (b"CONNECT x.org:443\r\n\r\n", (400,)),
        (b"GET https://x.org/ HTTP/1.1\r\n\r\n", (400,)),
        (b"GET file:///etc/passwd HTTP/1.1\r\n\r\n", (400,)),
        (b"GET gopher://127.0.0.1:80/ HTTP/1.1\r\n\r\n", (400,)),
        (b"GET http://user:pw@x.org/ HTTP/1.1\r\n\r\n", (400,)),
        (b"GET http://[::1/ HTTP/1.1\r\n\r\n", (400,)),
        (b"GET http://x.org/\x01 HTTP/1.1\r\n\r\n", (400,)),
        (b"GET http://x.org/ HTTP/1.1\r\nA b: c\r\n\r\n", (400,)),
        (b"GET http://x.org/ HTTP/1.1\r\nA: b\nHost: y\r\n\r\n", (400,)),
        (b"GET http://x.org/ HTTP/1.1\r\nA: " + b"x" * 40_000 + b"\r\n\r\n", (431, 0)),
        (b"CONNECT " + b"x" * 40_000, (431, 0)),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else "",
)
def test_what_no_proxy_serves_is_refused(request_: bytes, statuses: tuple[int, ...]):
    async def scene(sandbox: Sandbox) -> None:
        status, _ = split(await sandbox.send(request_))
        assert status in statuses
        assert set(sandbox.seen().values()) == {Verdict.MALFORMED}

    inside(scene, OPEN)


def test_a_whole_url_never_reaches_a_model():
    """Neither as a first request, which is the proxy's, nor behind a request to the gateway."""

    async def scene(stage: Door, provider: Provider) -> None:
        grant = stage.grant(model_at(provider))
        port = int(stage.urls[0].split(":")[2].split("/")[0])
        sandbox = Sandbox(stage.gateway, port)
        body = json.dumps(CHAT.question()).encode()

        def request(target: str, closing: str = "close") -> bytes:
            return (
                f"POST {target} HTTP/1.1\r\nHost: x\r\nx-envwright-token: {grant.token}\r\n"
                f"Connection: {closing}\r\nContent-Length: {len(body)}\r\n\r\n"
            ).encode() + body

        path = "/v1/chat/completions"
        status, said = split(await sandbox.send(request(f"http://127.0.0.1:{port}{path}")))
        assert (status, code_of(said)) == (403, "egress_refused")
        both = request("/nothing", "keep-alive") + request(f"http://x.org{path}")
        answer = await sandbox.send(both)
        assert answer.count(b"HTTP/1.1 ") == 2
        assert b"a connection of its own" in answer
        assert provider.requests == []
        assert (await stage.ask(grant)).status == 200

    play(always(Reply()), scene)


def test_floods_are_bounded_and_hold_up_no_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(proxy, "HEAD_SECONDS", 1.0)
    monkeypatch.setattr(proxy, "MOST_CONNECTIONS", 8)
    monkeypatch.setattr(front, "MOST_SILENT", 20)

    async def scene(stage: Door, provider: Provider) -> None:
        grant = stage.grant(model_at(provider))
        sandbox = Sandbox(stage.gateway, int(stage.urls[0].split(":")[2].split("/")[0]))
        silent = [await sandbox.open() for _ in range(10)]
        slow = [await sandbox.open() for _ in range(8)]
        for _, writer in slow:
            writer.write(b"CONNECT slow.test:443 HTTP/1.1\r\nA: b")
            await writer.drain()
        await asyncio.sleep(0.05)
        status, body = await sandbox.connect("x.org:443")
        assert (status, code_of(body)) == (429, "too_many_connections")
        assert (await stage.ask(grant)).status == 200
        ends = [split(await asyncio.wait_for(reader.read(), 5))[0] for reader, _ in slow]
        assert ends == [408] * 8
        status, _ = await sandbox.connect("x.org:443")
        assert status == 403
        silent += [await sandbox.open() for _ in range(12)]
        assert await asyncio.wait_for(silent[-1][0].read(), 5) == b""
        for _, writer in [*silent, *slow]:
            writer.close()

    play(always(Reply()), scene)


def test_a_flood_of_names_costs_no_memory_and_few_words():
    said: list[str] = []

    async def main() -> None:
        async with standing(Egress(), say=said.append) as sandbox:
            for number in range(600):
                sandbox.gateway.tally.count(f"h{number}.test", 443, Verdict.NO_EGRESS)
            traffic = sandbox.gateway.tally.since({})
            assert len(traffic) == 257
            assert sum(t.connections for t in traffic) == 600

    asyncio.run(main())
    assert len(said) == 20


def test_an_idle_connection_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(proxy, "IDLE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"

        async def scene(sandbox: Sandbox) -> None:
            status, body = await sandbox.connect(place)
            assert (status, body) == (200, b"")

        inside(scene, allow(place))


def test_a_host_that_is_down_or_unknown_is_typed():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]

    async def scene(sandbox: Sandbox) -> None:
        assert (await sandbox.connect(f"127.0.0.1:{port}"))[0] == 502
        assert sandbox.seen()["127.0.0.1", port] is Verdict.UNREACHABLE
        status, body = await sandbox.connect("nowhere.invalid:443")
        assert (status, code_of(body)) == (502, "no_such_host")

    inside(scene, allow(f"127.0.0.1:{port}", "nowhere.invalid"), {"nowhere.invalid": []})


def test_a_secret_in_a_name_is_not_recorded():
    async def main() -> None:
        secrets = Secrets({"SERPER": "abcdef-0123456789"})
        async with standing(Egress(), secrets=secrets) as sandbox:
            await sandbox.connect("abcdef-0123456789.evil.test:443")
            assert ("[secret SERPER].evil.test", 443) in sandbox.seen()

    asyncio.run(main())


HOSTED: list[tuple[Tongue, dict[str, Any]]] = [
    (CHAT, {"web_search_options": {}}),
    (CHAT, {"plugins": [{"id": "web"}]}),
    (CHAT, {"tools": [{"type": "web_search"}]}),
    (RESPONSES, {"tools": [{"type": "function", "name": "f"}, {"type": "web_search_preview"}]}),
    (RESPONSES, {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
    (RESPONSES, {"tools": [{"type": "mcp", "server_url": "https://evil.test"}]}),
    (RESPONSES, {"prompt": {"id": "pmpt_1"}}),
    (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    (MESSAGES, {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
    (MESSAGES, {"tools": [{"type": "code_execution_20250825", "name": "x"}]}),
    (MESSAGES, {"mcp_servers": [{"type": "url", "url": "https://evil.test"}]}),
]


@pytest.mark.parametrize(("tongue", "more"), HOSTED, ids=lambda v: str(v)[:50])
@pytest.mark.parametrize("seat", ["agent", None])
def test_hosted_tools_are_egress(tongue: Tongue, more: dict[str, Any], seat: str | None):
    async def scene(stage: Door, provider: Provider) -> None:
        model = model_at(provider)
        grant = stage.grant(model, environment_model=model)
        said = await stage.ask(grant, seat=seat, **more)
        assert (said.status, said.code) == (403, "no_egress")
        assert grant.unserved is not None
        assert "egress is none" in grant.unserved
        assert provider.requests == []
        listener = socket.create_server(("127.0.0.1", 0))
        stage.urls.append(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        detach = await stage.gateway.attach(listener, OPEN)
        other: Grant = stage.grant(model, environment_model=model)
        assert (await stage.ask(other, seat=seat, sandbox=1, **more)).status == 200
        assert other.unserved is None
        await detach()

    play(always(Reply()), scene, tongue)


@pytest.mark.parametrize(
    ("tongue", "tools"),
    [
        (CHAT, [{"type": "function", "function": {"name": "f"}}]),
        (RESPONSES, [{"type": "function", "name": "f"}, {"type": "custom", "name": "g"}]),
        (MESSAGES, [{"name": "f", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"}]),
    ],
    ids=str,
)
def test_tools_that_the_caller_runs_are_not(tongue: Tongue, tools: list[Any]):
    async def scene(stage: Door, provider: Provider) -> None:
        assert (await stage.ask(stage.grant(model_at(provider)), tools=tools)).status == 200

    play(always(Reply()), scene, tongue)


def test_egress_is_part_of_a_trial_only_when_there_is_some():
    key = "0" * 64
    agents = (AgentSpec(kind=AgentKind.NOOP),)
    ways: tuple[Egress | None, ...] = (None, OPEN, allow("x.org"))
    plans = [Plan(tasks=((0, key),), agents=agents, trials=1, egress=way) for way in ways]
    assert len({plan.digest for plan in plans}) == 3
    assert len({trials_of(plan, key)[0].id for plan in plans}) == 3


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('egress = "some"', "egress"),
        ('egress = "allowlist"', 'egress = "allowlist" needs allow'),
        ('allow = ["x.org"]', "allow needs egress"),
        ('egress = "open"\nallow = ["http://x.org"]', "'http://x.org' is no host"),
        ('prepare = { egress = "allowlist" }', 'egress = "allowlist" needs allow'),
    ],
)
def test_a_mistake_in_the_file_is_one_line(table: str, words: str, tmp_path: Path):
    (tmp_path / "envwright.toml").write_text(f"[environments.probe]\n{table}\n")
    with pytest.raises(UsageError) as refused:
        read_settings({}, tmp_path)
    assert words in str(refused.value)
    assert "envwright.toml:" in str(refused.value)


ASKING = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    import urllib.request
    with urllib.request.urlopen({url!r}, timeout=5) as answer:
        return float(answer.read() == b"hello from outside")
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path) -> Iterator[Bed]:
    with make_bed(tmp_path_factory.mktemp("bed"), venvs) as bed:
        yield bed


@pytest.mark.slow
def test_a_reward_reaches_what_is_allowed_and_its_trial_says_so(bed: Bed, tmp_path: Path):
    """Real environment code in a real sandbox, refused first and then allowed."""
    # Not 127.0.0.1: that is the sandbox's own, and no proxy is asked for it.
    with served("127.0.0.2") as web:
        place = f"127.0.0.2:{web.server_port}"
        task = ASKING.format(url=f"http://{place}/")
        root = make_environment(tmp_path, name="asking", task=task, count=1)

        async def scene() -> Any:
            return (await bed.sweep(await bed.load(root), [0]))[0]

        found: list[Any] = []
        for table in ({}, {"egress": "allowlist", "allow": [place]}):
            bed.give("asking", table)
            told = bed.do(scene())
            blob = told.attempts[-1].blob
            assert blob is not None
            (trace,) = json.loads(bed.app.store.blobs.get(blob))
            (traffic,) = trace["info"]["egress"]
            found.append((told.outcome, traffic))
    (refused, first), (allowed, second) = found
    assert refused.kind == "failed"
    assert "403: Egress refused" in refused.detail
    assert (first["host"], first["verdict"]) == ("127.0.0.2", "no egress")
    assert (allowed.kind, allowed.reward) == ("scored", 1.0)
    assert (second["verdict"], second["connections"]) == ("allowed", 1)
    assert second["received_bytes"] > len(HELLO)
