"""A key that is planted wherever one could leak is found in the provider's requests alone.

The provider says it back in every way that it can; the environment says all that it can
see, under both dialects. Then everything that was printed and kept is searched.
"""

import asyncio
import io
import json
import os
import sqlite3
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import zstandard
from aiohttp import web

from envwright.cli import progress
from envwright.environment import read_folder
from envwright.host.interpreter import own
from envwright.host.venv import Builder, build
from envwright.sandbox.bubblewrap import Bubblewrap
from provider import Provider, Reply, provider
from support import DIALECTS, ROOT, CommandLine, Finished, make_environment, under

pytestmark = pytest.mark.slow

BLABBER = ROOT / "tests" / "environments" / "blabber"
KEY = "sk-canary/7c1e5a90b3d24f68a1c0"
PLANTED = (".env", ".netrc", ".config/envwright/keys.toml", ".ssh/id_ed25519", ".bash_history")
TOML = """
[models."p/{name}"]
base_url = "{url}"
api_key_env = "CANARY_KEY"
retry = {{ attempts = 1 }}
"""


async def with_headers(request: web.Request) -> web.StreamResponse:
    message = {"role": "assistant", "content": f"Bearer {KEY}", "reasoning_content": KEY}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {"id": KEY, "object": "chat.completion", "created": 1, "model": KEY, "usage": usage}
    text = json.dumps({**body, "choices": [choice]}).replace("/", "\\/")
    headers = {"x-key": KEY, "set-cookie": f"key={KEY}", "content-type": "application/json"}
    return web.Response(body=text.encode(), headers=headers)


ECHOES = {
    # how a model says the key back
    "answers": Reply(act=with_headers),
    "refuses": Reply(f"{KEY} is no key", status=401, headers={"x-key": KEY}),
    "complains": Reply(f"no model for {KEY}", status=400),
    "redirects": Reply(status=307, headers={"location": f"http://127.0.0.1:9/{KEY}"}),
    "babbles": Reply(body=f"<html>{KEY}</html>".encode()),
}


@dataclass
class World:
    envwright: CommandLine
    served: Provider
    state: Path
    said: list[str] = field(default_factory=list)
    """All that was printed."""
    carriers: set[str] = field(default_factory=set)
    """Processes below the command that had the key, as the provider saw them."""

    def __call__(self, *args: object) -> Finished:
        done = self.envwright(*args)
        self.said += [done.out, done.err]
        return done

    def answer(self, body: dict[str, Any]) -> Reply:
        self.carriers |= set(below_with_the_key())
        return ECHOES[body["model"]]


def below_with_the_key() -> Iterator[str]:
    """Sandboxes and hosts, that is all below a command of ours, which alone may have it."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "cmdline").read_bytes()
            had = KEY.encode() in said + (folder / "environ").read_bytes()
        except OSError:
            continue
        command = said.split(b"\0")
        if had and command[1:3] != [b"-m", b"envwright"] and int(folder.name) != os.getpid():
            yield f"{folder.name}: {said[:200]!r}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, fresh_variables: Any) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("canary")
    home, state = folder / "home", folder / "state"
    for place in (home, folder):
        for name in PLANTED:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(f"CANARY_KEY={KEY}\n")
    variables = {**fresh_variables(state), "HOME": str(home), "CANARY_KEY": KEY}
    variables |= {"ENVWRIGHT_DEBUG": "1", "SOME_SECRET": KEY}
    with provider() as served:
        made = World(CommandLine(variables, folder), served, state)
        served.answer = made.answer
        tables = [TOML.format(name=name, url=served.url) for name in ECHOES]
        (folder / "envwright.toml").write_text("".join(tables))
        use(made, folder)
        yield made


def use(world: World, folder: Path) -> None:
    """Whatever a user may type, on both dialects."""
    root = folder
    for dialect in DIALECTS:
        root = under(dialect, BLABBER, folder / dialect)
        models = [part for name in ECHOES if name != "refuses" for part in ("-m", f"p/{name}")]
        run = world("run", root, *models, "--judge", "p/answers", "--json")
        assert run.code == 1, run.err
    world("run", root, "-m", "p/refuses")
    # One of each way that a trial ended.
    trials = world("trial", "list", "--json").lines
    ended = {(trial["agent"], trial["outcome"]["kind"]): trial["id"] for trial in trials}
    for trial in ended.values():
        world("trial", "show", trial)
    world("trial", "show", next(iter(ended.values())), "--json")
    for name in ECHOES:
        world("model", "check", f"p/{name}")


def test_the_provider_got_the_key(world):
    assert {body["model"] for body in world.served.requests} == {*ECHOES}
    assert all(each["Authorization"] == f"Bearer {KEY}" for each in world.served.headers)


def test_the_environment_said_all_that_it_saw(world):
    """Else there would be nothing to search."""
    assert any("OPENAI_API_KEY" in said and "/proc/" in said for said in world.said)
    assert any("[key]" in said for said in world.said)


def test_no_process_below_the_command_had_it(world):
    assert world.carriers == set()


def test_nothing_that_was_printed_holds_it(world):
    assert len(world.said) > 20
    assert [said for said in world.said if holds_the_key(said.encode())] == []


def test_nothing_that_was_kept_holds_it(world):
    files = [path for path in world.state.rglob("*") if path.is_file()]
    assert {".zst", ".db"} <= {path.suffix for path in files}
    assert [str(path) for path in files if holds_the_key(content_of(path))] == []


def test_nothing_beside_it_was_written_down(world):
    folder = world.envwright.folder
    planted = {place / name for place in (folder, folder / "home") for name in PLANTED}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path for path in files if holds_the_key(path.read_bytes())} == planted


def holds_the_key(content: bytes) -> bool:
    """Or the greater part of it, escaped or not."""
    plain = content.replace(b"\\/", b"/")
    return KEY[:18].encode() in plain or KEY[-18:].encode() in plain


def content_of(path: Path) -> bytes:
    """Blobs decompressed, every table of a database spelled out."""
    content = path.read_bytes()
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(content).read()
    if path.suffix != ".db":
        return content
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        tables = "\n".join(database.iterdump())
    assert "CREATE TABLE" in tables
    return content + tables.encode("utf-8", "surrogateescape")


BACKEND = """
import os, pathlib, zipfile

def build_wheel(folder, config=None, metadata=None):
    name = "ew_canary_builder-1.0-py3-none-any.whl"
    seen = [dict(os.environ)]
    for path in pathlib.Path("/proc").glob("[0-9]*/*"):
        if path.name in ("environ", "cmdline"):
            try:
                seen.append(path.read_bytes())
            except OSError:
                pass
    info = "ew_canary_builder-1.0.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("seen_while_building.txt", repr(seen))
        metadata = ("Metadata-Version: 2.1", "Name: ew-canary-builder", "Version: 1.0", "")
        wheel.writestr(f"{info}/METADATA", "\\n".join(metadata))
        tags = ("Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any", "")
        wheel.writestr(f"{info}/WHEEL", "\\n".join(tags))
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""


def test_what_builds_a_dependency_sees_no_key(tmp_path):
    """A build backend is code of others, and it has a network."""
    venv = tmp_path / "venvs" / "v"
    links = venv / "links"
    links.mkdir(parents=True)
    project = (
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "ew-canary-builder"\nversion = "1.0"\n'
    )
    told = "Metadata-Version: 2.2\nName: ew-canary-builder\nVersion: 1.0\n"
    with tarfile.open(links / "ew_canary_builder-1.0.tar.gz", "w:gz") as source:
        for name, text in (
            *(("backend.py", BACKEND), ("pyproject.toml", project)),
            ("PKG-INFO", told),
        ):
            entry = tarfile.TarInfo(f"ew_canary_builder-1.0/{name}")
            entry.size = len(text)
            source.addfile(entry, io.BytesIO(text.encode()))
    (venv / "requirements.txt").write_text("ew-canary-builder==1.0\n")
    said: list[str] = []
    variables = {**os.environ, "CANARY_KEY": KEY, "OPENAI_API_KEY": KEY, "UV_INDEX_TOKEN": KEY}
    variables["UV_FIND_LINKS"] = str(links)
    builder = Builder(
        venv.parent, tmp_path / "cache", Bubblewrap(), variables, said.append, progress.follow
    )
    asyncio.run(build(venv, own(), read_folder(make_environment(tmp_path)), builder))
    (seen,) = venv.glob("lib/python3*/site-packages/seen_while_building.txt")
    assert "'HOME': '/tmp'" in seen.read_text()
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        assert not holds_the_key(path.read_bytes()), path
