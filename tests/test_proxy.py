"""The proxy on a sandbox's listener: what it lets through, refuses, counts and survives."""

import asyncio
import json
import socket
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from envwright.environment import egress
from envwright.environment.egress import Egress, Verdict
from envwright.environment.secret import Secrets
from envwright.gateway import Gateway, front, proxy
from outside import HELLO, OPEN, Sandbox, allow, code_of, inside, served, split, standing
from provider import Provider, Reply
from stage import Door, always, model_at, play
from tongue import CHAT


@pytest.fixture(scope="module")
def web() -> Iterator[ThreadingHTTPServer]:
    with served() as server:
        yield server


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
        path, headers = web.seen[-1]
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
        assert ("/p", b"x" * 300_000) in web.seen

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

    before = len(web.seen)
    inside(scene, way, names)
    assert len(web.seen) == before


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
