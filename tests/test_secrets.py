"""Secrets: given by name, redacted wherever what environment code says comes in."""

import asyncio
import base64
import json
import socket
import subprocess
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bed import Bed, make_bed
from envwright.environment.secret import Secrets
from envwright.errors import EnvironmentFailure, UsageError
from envwright.host import HostLimits, Permit, load
from envwright.sandbox import Bubblewrap, Command
from envwright.settings import read_settings
from envwright.trial import Failed, Scored
from envwright.trial.plan import Plan
from provider import Provider, Reply
from stage import Door, always, in_every_protocol, model_at, play
from support import make_environment
from tongue import Tongue

VALUE = 'S3cr"t/käy+\\zz=\t0123456789abcdef'
SECRETS = Secrets({"SERPER_API_KEY": VALUE})
TOKEN = "[secret SERPER_API_KEY]"


@given(st.text(min_size=8, max_size=60), st.binary(max_size=5), st.binary(max_size=5))
def test_a_secret_is_found_in_every_shape(value: str, before: bytes, after: bytes):
    try:
        content = value.encode()
    except UnicodeEncodeError:
        return
    secrets = Secrets({"X": value})
    basic = base64.b64encode(before + content + after).decode()
    shapes = [
        *(value, json.dumps(value), json.dumps({"a": json.dumps([value])}), repr(value)),
        *(quote(value), quote(value, safe=""), content.hex(), content.hex().upper()),
        *(escape(value), escape(value, quote=False)),
        *(basic, basic.replace("+", "-").replace("/", "_")),
    ]
    for shape in shapes:
        assert secrets.found_in(shape) == "X", shape
        assert "[secret X]" in secrets.redact(f"<{shape}>")


def test_redacting_reaches_every_text_of_a_value_and_leaves_the_rest():
    said = {"a": [VALUE, 1, None, {VALUE: f"x{VALUE}y"}], "b": "fine"}
    assert SECRETS.redact_all(said) == {"a": [TOKEN, 1, None, {TOKEN: f"x{TOKEN}y"}], "b": "fine"}
    assert Secrets().redact_all(said) is said


def test_half_a_secret_at_the_cut_end_of_a_text_goes_too():
    assert VALUE[-5:] not in SECRETS.redact_end(VALUE[10:] + "x" * 500, cut=True)
    assert SECRETS.redact_end("short", cut=False) == "short"
    assert VALUE not in repr(SECRETS)


@pytest.mark.parametrize(
    ("name", "variables", "words"),
    [
        ("MISSING", {}, "secret 'MISSING' of environment 'e' is not set"),
        ("SHORT", {"SHORT": "1234567"}, "shorter than 8 characters"),
        ("OPENAI_API_KEY", {"OPENAI_API_KEY": "sk-0123456789"}, "a provider's key"),
        ("LAB_KEY", {"LAB_KEY": "sk-0123456789"}, "a provider's key"),
        ("ALIAS", {"ALIAS": "sk-0123456789", "LAB_KEY": "sk-0123456789"}, "a provider's key"),
        ("PATH", {"PATH": "/usr/bin:/bin"}, "is no name for one"),
        ("https_proxy", {"https_proxy": "http://x.org:80"}, "is no name for one"),
        ("LD_PRELOAD", {"LD_PRELOAD": "/tmp/evil.so"}, "is no name for one"),
        ("ENVWRIGHT_DATABASE_URL", {"ENVWRIGHT_DATABASE_URL": "x" * 20}, "is no name for one"),
        ("A=B", {}, "is no name for one"),
    ],
)
def test_what_can_be_no_secret_is_one_line(
    name: str, variables: dict[str, str], words: str, tmp_path: Path
):
    (tmp_path / "envwright.toml").write_text(
        f'[environments.e]\nsecrets = ["{name}"]\n'
        '[models."lab/x"]\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "LAB_KEY"\n'
    )
    settings = read_settings(variables, tmp_path)
    with pytest.raises(UsageError, match=words) as refused:
        settings.secrets_of("e")
    assert len(str(refused.value).splitlines()) == 1
    for value in variables.values():
        assert value not in str(refused.value)
    assert not settings.secrets_of("another")


def test_names_are_in_the_plan_and_values_are_not():
    plan = Plan(tasks=(), agents=(), trials=1)
    named = plan.model_copy(update={"secrets": ("A",)})
    assert plan.digest != named.digest


@in_every_protocol
def test_a_request_that_holds_a_secret_is_not_sent(tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        stage.urls.append(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        detach = await stage.gateway.attach(listener, secrets=SECRETS)
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant, sandbox=1, **tongue.ask(f"search with {VALUE}"))
        assert (said.status, said.code) == (403, "secret_in_request")
        assert (
            grant.unserved == "a request to a model held the secret SERPER_API_KEY; it was not sent"
        )
        assert VALUE not in said.text
        assert served.requests == []
        assert (await stage.ask(grant, sandbox=1, seat=f"x{VALUE.encode().hex()}")).status == 200
        assert grant.calls[-1].seat == f"x{TOKEN}"
        await detach()

    play(always(Reply()), scene, tongue)


def test_no_list_of_processes_shows_a_secret():
    canary = "canary-0123456789"

    async def scene() -> tuple[str, str]:
        argv = ("/bin/sh", "-c", "echo $S; sleep 1")
        process = await Bubblewrap().start(Command(argv=argv, secrets={"S": canary}))
        while canary not in process.tail:
            await asyncio.sleep(0.02)
        seen = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True).stdout
        await process.wait()
        return process.tail, seen

    tail, seen = asyncio.run(scene())
    assert canary in tail
    assert "bwrap" in seen
    assert canary not in seen


LEAKY = """
import base64, json, urllib.parse
KEY = os.environ.get("SERPER_API_KEY", "none at all")
print("printed", KEY)
"""
SHAPES = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    trace.info["leak"] = [KEY, base64.b64encode(b"u:" + KEY.encode()).decode(), json.dumps(KEY)]
    if self.data.answer == "1":
        raise ValueError("cannot search with " + urllib.parse.quote(KEY, safe=""))
    if self.data.answer == "2":
        print(KEY, flush=True)
        os._exit(3)
    return float(len(KEY) > 12)
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path) -> Iterator[Bed]:
    with make_bed(tmp_path_factory.mktemp("bed"), venvs) as bed:
        yield bed


@pytest.mark.slow
def test_a_secret_reaches_environment_code_and_nothing_that_is_kept(bed: Bed, tmp_path: Path):
    root = make_environment(tmp_path, name="leaky", imports=LEAKY, task=SHAPES, count=3)
    source = root / "leaky" / "__init__.py"
    source.write_text(source.read_text().replace('f"Say {i}."', 'f"Say {i} with {KEY}."'))
    bed.give("leaky", {"secrets": ["SERPER_API_KEY"]}, SERPER_API_KEY=VALUE)

    async def scene() -> Any:
        loaded = await bed.load(root)
        tasks = await loaded.tasks(0, 3)
        scores = await loaded.score([{"index": 1, "key": tasks[1].key, "reply": "x"}], 30)
        return tasks, scores, await bed.sweep(loaded, [0, 1, 2])

    tasks, scores, told = bed.do(scene())
    assert tasks[0].prompt == f"Say 0 with {TOKEN}."
    assert f"cannot search with {TOKEN}" in scores[0].problem
    outcomes = [told[index].outcome for index in range(3)]
    assert isinstance(outcomes[0], Scored)
    assert outcomes[0].reward == 1.0
    for index in (1, 2):
        outcome = outcomes[index]
        assert isinstance(outcome, Failed)
        assert TOKEN in outcome.detail
    home = bed.app.settings.home
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.suffix == ".zst" for path in kept)
    forms = [VALUE.encode(), quote(VALUE, safe="").encode(), json.dumps(VALUE)[1:-1].encode()]
    forms.append(base64.b64encode(VALUE.encode())[:16])
    for path in kept:
        content = path.read_bytes()
        if path.suffix == ".zst":
            content = zstandard.ZstdDecompressor().stream_reader(content).read()
            # The revision's own source never had it; what its trials said did.
            assert path.suffixes[0] == ".tar" or TOKEN.encode() in content
        for form in forms:
            assert form not in content, path


def test_a_revision_that_a_builder_wrote_is_given_no_secrets(bed: Bed, tmp_path: Path):
    root = make_environment(tmp_path, name="written")
    source = bed.do(bed.app.resolve(str(root))).model_copy(update={"built": True})
    permit = Permit(secrets=SECRETS)
    with pytest.raises(UsageError, match="was written by a builder") as refused:
        # Nothing is built or started before it is refused.
        bed.do(load(source, None, {}, HostLimits(), bed.gateway.attach, permit))
    assert VALUE not in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.slow
def test_a_load_that_fails_tells_no_secret(bed: Bed, tmp_path: Path):
    imports = LEAKY + "\nraise RuntimeError('bad key ' + KEY)\n"
    root = make_environment(tmp_path, name="leaky", imports=imports)
    bed.give("leaky", {"secrets": ["SERPER_API_KEY"]}, SERPER_API_KEY=VALUE)
    with pytest.raises(EnvironmentFailure) as failed:
        bed.do(bed.load(root))
    assert f"bad key {TOKEN}" in failed.value.message
    assert VALUE not in f"{failed.value} {failed.value.detail}"
