"""A Hub id is fetched from an index once, kept by content, and refused in one line."""

import asyncio
import contextlib
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from envwright.app import App
from envwright.cli import progress
from envwright.environment import Kind, Source
from envwright.errors import UsageError
from envwright.host import ensure_venv
from envwright.host.uv import gist
from envwright.settings import FileTables, Settings, read_settings
from index import Index, files_of_example, make_sdist, make_wheel, serve_index
from support import make_environment

REQUIRES = ("verifiers>=0.4,<0.5",)
SUMS = files_of_example("sums")


@pytest.fixture(scope="module")
def index():
    with serve_index() as served:
        served.add("ada", "sums", make_wheel("sums", "0.1.0", SUMS, REQUIRES))
        served.add(
            "ada", "sums", make_wheel("sums", "0.2.0", {**SUMS, "sums/new.py": ""}, REQUIRES)
        )
        served.refuse |= {"private": 401, "forbidden": 403}
        yield served


class Shelf:
    """An `App` with a cache of its own, and what it said."""

    def __init__(self, folder: Path, url: str) -> None:
        self.said: list[str] = []
        settings = Settings(
            home=folder / "state",
            cache=folder / "cache",
            venvs=folder / "venvs",
            hub_index=url,
            file=FileTables(),
            variables={
                "UV_HTTP_RETRIES": "0",
                "PATH": os.environ["PATH"],
                "PROVIDER_KEY": "canary",
            },
        )
        self.app = App(settings, sandbox="bubblewrap", say=self.said.append)

    def resolve(self, text: str) -> Source:
        return asyncio.run(self.app.resolve(text))


@pytest.fixture
def shelf(index: Index, tmp_path: Path) -> Shelf:
    return Shelf(tmp_path, index.url)


def test_a_wheel_becomes_a_source_like_a_folder(shelf, index):
    source = shelf.resolve("ada/sums@0.1.0")
    assert (source.name, source.module) == ("sums", "sums")
    assert source.dependencies == ("verifiers<0.5,>=0.4",)
    assert (source.import_path / "sums" / "taskset.py").read_bytes() == SUMS["sums/taskset.py"]
    assert source.manifest == "sums-0.1.0.dist-info/METADATA"
    assert source.index == index.of("ada")
    assert source.title == "ada/sums", "a namesake has no part in the table of another"
    assert source.folder.name == source.revision
    names = {path.name for path in source.folder.rglob("*") if path.is_file()}
    assert names == {"__init__.py", "taskset.py", "METADATA"}, "an installer's notes are no part"


def test_the_latest_is_taken_and_said_and_is_another_revision(shelf):
    source = shelf.resolve("ada/sums")
    assert source.manifest.startswith("sums-0.2.0")
    assert "taking ada/sums@0.2.0, the latest" in shelf.said
    assert shelf.resolve("ada/sums@0.1.0").revision != source.revision


def test_a_namesake_of_another_index_is_not_taken(shelf, index, monkeypatch):
    index.add("eve", "sums", make_wheel("sums", "9.9", SUMS, REQUIRES))
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setitem(shelf.app.settings.variables, name, index.of("eve"))
    assert shelf.resolve("ada/sums").manifest.startswith("sums-0.2.0")


def test_what_was_fetched_is_used_without_the_index(tmp_path):
    with serve_index() as index:
        index.add("ada", "sums", make_wheel("sums", "0.1.0", SUMS, REQUIRES))
        first = Shelf(tmp_path, index.url)
        source = first.resolve("ada/sums@0.1.0")
        asked = len(index.asked)
        again = Shelf(tmp_path, index.url)
        assert again.resolve("ada/sums@0.1.0") == source
        assert len(index.asked) == asked and again.said == []
    gone = Shelf(tmp_path, index.url)
    assert gone.resolve("ada/sums@0.1.0") == source
    with pytest.raises(UsageError, match=r"cannot be reached.*at hand is ada/sums@0\.1\.0"):
        gone.resolve("ada/sums")


def test_a_copy_that_was_changed_in_the_cache_is_fetched_again(shelf):
    source = shelf.resolve("ada/sums@0.1.0")
    (source.folder / "sums" / "taskset.py").write_text("evil = 1")
    again = shelf.resolve("ada/sums@0.1.0")
    assert again.revision == source.revision
    assert (again.folder / "sums" / "taskset.py").read_bytes() == SUMS["sums/taskset.py"]
    assert "the copy in the cache was changed" in "\n".join(shelf.said)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("ada/nothing@0.1.0", "there is no such package at http"),
        ("nobody/sums", "there is no such package at http"),
        ("ada/sums@9.9", "has no such version of it"),
        ("private/sums@0.1.0", "refuses to serve it"),
        ("forbidden/sums@0.1.0", "refuses to serve it"),
        ("ada/not-one@0.1.0", "does not depend on verifiers"),
    ],
)
def test_what_cannot_be_fetched_is_named_in_one_line(shelf, index, named, words):
    index.add("ada", "not-one", make_wheel("not-one", "0.1.0", {"not_one.py": ""}))
    with pytest.raises(UsageError, match=words) as raised:
        shelf.resolve(named)
    assert raised.value.hint and "\n" not in str(raised.value)
    assert shelf.said == [f"fetching {named} from {index.of(named.partition('/')[0])}"]


def test_an_index_that_cannot_be_reached_is_said_without_its_key(envwright, tmp_path):
    done = envwright(
        *("env", "inspect", "ada/sums@0.1.0"),
        ENVWRIGHT_HUB_INDEX="http://user:canary@127.0.0.1:9/{owner}/simple/?token=canary",
        ENVWRIGHT_CACHE=str(tmp_path / "cache"),
        UV_HTTP_RETRIES="0",
        ENVWRIGHT_DEBUG="1",
    )
    assert done.code == 2 and "http://127.0.0.1:9/ada/simple/ cannot be reached" in done.err
    assert "canary" not in done.err


@pytest.mark.parametrize("index", ["hub.example", "https://canary@hub/simple/", "ftp://{owner}"])
def test_a_hub_index_without_an_owner_in_it_is_refused(tmp_path, index):
    with pytest.raises(UsageError, match="ENVWRIGHT_HUB_INDEX is no URL with"):
        read_settings({"ENVWRIGHT_HUB_INDEX": index}, tmp_path)
    (tmp_path / "envwright.toml").write_text(f'[hub]\nindex = "{index}"\n')
    with pytest.raises(UsageError, match=r"envwright\.toml:2: hub\.index") as raised:
        read_settings({}, tmp_path)
    assert "canary" not in str(raised.value)


def test_the_variable_wins_over_the_file(tmp_path):
    (tmp_path / "envwright.toml").write_text('[hub]\nindex = "http://file/{owner}/"\n')
    assert read_settings({}, tmp_path).hub_index == "http://file/{owner}/"
    given = {"ENVWRIGHT_HUB_INDEX": "http://variable/{owner}/"}
    assert read_settings(given, tmp_path).hub_index == "http://variable/{owner}/"


SEES = """
    seen = repr((sorted(os.environ), os.path.exists({key!r})))
"""


def test_a_package_that_comes_only_as_source_is_built_without_home_or_keys(shelf, index, tmp_path):
    files = {**SUMS, "sums/seen.py": "SEEN = @SEEN@"}
    (key := tmp_path / "key").write_text("canary")
    body = SEES.format(key=str(key))
    index.add("grace", "sums", make_sdist("sums", "0.1.0", files, REQUIRES, body))
    source = shelf.resolve("grace/sums@0.1.0")
    assert "grace/sums@0.1.0 comes only as source: building it, apart" in shelf.said
    variables, found = eval((source.folder / "sums/seen.py").read_text().removeprefix("SEEN = "))
    assert "HOME" in variables and "PROVIDER_KEY" not in variables
    assert not found


def test_nothing_is_built_beside_a_key_in_the_index(index, tmp_path):
    index.add("eve", "sums", make_sdist("sums", "0.1.0", SUMS, REQUIRES))
    shelf = Shelf(tmp_path, index.url.replace("http://", "http://user:canary@"))
    with pytest.raises(UsageError, match="comes only as source, which is not built beside a key"):
        shelf.resolve("eve/sums@0.1.0")
    assert "canary" not in "".join(shelf.said)


DEPENDS = ("verifiers>=0.4", "helper")


def test_dependencies_come_from_the_owners_index_and_are_built_apart_where_they_must(shelf, index):
    """The whole way of a venv, with a small package in the place of verifiers."""
    index.add("lin", "verifiers", make_wheel("verifiers", "0.4.7", {"verifiers/__init__.py": ""}))
    index.add("lin", "helper", make_sdist("helper", "1.0", {"helper.py": "x = 1"}))
    index.add("lin", "sums", make_wheel("sums", "0.1.0", SUMS, DEPENDS))
    source = shelf.resolve("lin/sums@0.1.0")
    venv = asyncio.run(ensure_venv(source, shelf.app.builder))
    assert venv.kind is Kind.VERIFIERS
    assert list(venv.folder.glob("lib/*/site-packages/helper.py"))
    assert "something comes only as source: building it, apart" in shelf.said
    elsewhere = source.model_copy(update={"index": index.of("kay")})
    with pytest.raises(UsageError, match="the dependencies of sums cannot be installed"):
        asyncio.run(ensure_venv(elsewhere, shelf.app.builder))


def test_a_source_that_does_not_build_is_one_line(shelf, index):
    index.add("kay", "verifiers", make_wheel("verifiers", "0.4.7", {"verifiers/__init__.py": ""}))
    broken = '    raise RuntimeError("no compiler here")'
    index.add("kay", "helper", make_sdist("helper", "1.0", {"helper.py": ""}, body=broken))
    index.add("kay", "sums", make_wheel("sums", "0.1.0", SUMS, DEPENDS))
    source = shelf.resolve("kay/sums@0.1.0")
    with pytest.raises(UsageError, match=r"the dependencies of sums cannot be installed") as raised:
        asyncio.run(ensure_venv(source, shelf.app.builder))
    said = str(raised.value)
    assert "helper" in said and "no compiler here" in said and "\n" not in said
    assert not list(shelf.app.settings.venvs.glob("*.complete"))


def test_the_gist_leaves_out_how_it_went():
    said = "Using Python\nResolved 2 packages\nerror: it broke\n  cause: here\n"
    assert gist(said) == "it broke cause: here"
    assert gist("") == "uv said nothing"


def test_a_build_is_shown_as_it_goes_on_a_terminal_and_ends_in_a_clean_line(
    envwright, index, tmp_path
):
    index.add("lin", "verifiers", make_wheel("verifiers", "0.4.7", {"verifiers/__init__.py": ""}))
    root = make_environment(tmp_path, dependencies=("verifiers",))
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        envwright.command("env", "inspect", root),
        env={
            **envwright.variables,
            "UV_DEFAULT_INDEX": index.of("lin"),
            "ENVWRIGHT_VENVS": str(tmp_path / "venvs"),
            "ENVWRIGHT_CACHE": str(tmp_path / "cache"),
            "TERM": "xterm",
        },
        stdout=subprocess.DEVNULL,
        stderr=inner,
        cwd=tmp_path,
    )
    os.close(inner)
    shown = read_all(outer)
    assert process.wait() == 2, "this verifiers holds nothing"
    assert re.search(r"building the venv of probe, \d+ s: \S", shown)
    cleared = "\x1b[2K"
    assert f"{cleared}error: environment probe does not load" in shown


def read_all(terminal: int) -> str:
    read = b""
    with contextlib.suppress(OSError):
        while more := os.read(terminal, 65536):
            read += more
    os.close(terminal)
    return read.decode("utf-8", "replace")


def test_elsewhere_a_line_is_said_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SAY_EVERY_SECONDS", 0.0)
    with progress.follow("building") as show:
        show("Resolved \x1b[31m3 packages")
    assert capsys.readouterr().err == "building, 0 s: Resolved \\x1b[31m3 packages\n"
    monkeypatch.undo()
    with progress.follow("building") as show:
        show("Resolved 3 packages")
    assert capsys.readouterr().err == ""
