"""The way out of a sandbox: what may leave, what may not, and what is told of it."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bed import Bed, make_bed
from envwright.agent import AgentKind, AgentSpec
from envwright.environment.egress import Egress, Mode, Rule, Verdict, host_of, is_public
from envwright.errors import UsageError
from envwright.gateway import Grant
from envwright.settings import read_settings
from envwright.trial.plan import Plan, trials_of
from outside import HELLO, OPEN, allow, served
from provider import Provider, Reply
from stage import Door, always, model_at, play
from support import make_environment
from tongue import CHAT, MESSAGES, RESPONSES, Tongue


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
