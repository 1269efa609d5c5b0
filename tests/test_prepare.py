"""The prepare phase: a cache that is filled once, with a network, and read without one."""

import asyncio
import os
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from bed import Bed, make_bed
from envwright.environment.egress import Egress, Mode
from envwright.errors import EnvironmentFailure
from envwright.host import prepare
from envwright.host.prepare import Cache, Preparation, ensure_prepared
from envwright.trial import Scored
from support import make_environment

OPEN = Egress(mode=Mode.OPEN)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


class Web:
    """A web server on loopback that can go away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Not 127.0.0.1: that is the sandbox's own, and no proxy is asked for it.
        self.server = ThreadingHTTPServer(
            ("127.0.0.2", 0), lambda *args: Quiet(*args, directory=str(folder))
        )
        self.server.daemon_threads = True
        self.place = f"127.0.0.2:{self.server.server_port}"
        self.thread = Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        if self.thread.is_alive():
            self.server.shutdown()
            self.server.server_close()
            self.thread.join(5)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    web = Web(tmp_path_factory.mktemp("web"))
    (web.folder / "words.txt").write_text("seven")
    yield web
    web.close()


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path) -> Iterator[Bed]:
    with make_bed(tmp_path_factory.mktemp("bed"), venvs) as bed:
        yield bed


DOWNLOADS = """
import pathlib, urllib.request

FILE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "/tmp/.cache"), "own", "words.txt")

def words():
    if not FILE.exists():
        FILE.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen({url!r}, timeout=10) as answer:
            FILE.write_bytes(answer.read())
        FILE.with_suffix(".lock").touch()
    return FILE.read_text()

WORDS = words()

def refused(act):
    try:
        act()
    except OSError:
        return True
    return False
"""

READS = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    return float(words() == "seven")

@vf.metric
async def read_only(self, trace: vf.Trace) -> float:
    real = FILE.resolve()
    return float(refused(lambda: FILE.write_text("six")) and refused(lambda: real.unlink()))

@vf.metric
async def locks(self, trace: vf.Trace) -> float:
    FILE.with_suffix(".lock").write_text("taken")
    return float(os.environ["HF_HUB_OFFLINE"] == os.environ["HF_DATASETS_OFFLINE"] == "1")
"""


@pytest.mark.slow
def test_what_is_prepared_works_again_when_the_network_is_gone(bed: Bed, web: Web, tmp_path: Path):
    imports = DOWNLOADS.format(url=f"http://{web.place}/words.txt")
    root = make_environment(tmp_path, name="downloads", imports=imports, task=READS, count=1)
    said: list[str] = []
    bed.app.say = said.append
    with pytest.raises(EnvironmentFailure) as refused:
        bed.do(bed.load(root))
    assert f"its connection to {web.place} was refused" in refused.value.message
    assert refused.value.hint is not None
    assert f'prepare = {{ egress = "allowlist", allow = ["{web.place}"] }}' in refused.value.hint
    assert len(str(refused.value).splitlines()) == 1

    bed.give("downloads", {"prepare": {"egress": "allowlist", "allow": [web.place]}})

    async def scene() -> Any:
        loaded = await bed.load(root)
        return (await bed.sweep(loaded, [0]))[0].outcome

    first = bed.do(scene())
    assert [line.split(" (")[0].split(":")[0] for line in said] == [
        "preparing downloads",
        "prepared",
    ]
    web.close()
    second = bed.do(scene())
    for outcome in (first, second):
        assert isinstance(outcome, Scored)
        assert outcome.reward == 1.0
        assert outcome.metrics == {"read_only": 1.0, "locks": 1.0}
    assert len(said) == 2


def fill_with(content: str, filled: list[Cache]) -> Any:
    async def fill(cache: Cache) -> None:
        filled.append(cache)
        (cache.folder / "huggingface" / "x").write_text(content)
        (cache.folder / "link").symlink_to("/etc/passwd")
        os.mkfifo(cache.folder / "pipe")

    return fill


def ensure(folder: Path, fill: Any, said: list[str], **more: Any) -> Cache:
    wanted = Preparation(more.pop("egress", OPEN), folder, **more)
    return asyncio.run(ensure_prepared(wanted, ("revision", {}), fill, said.append))


def test_a_cache_is_filled_once_and_again_when_it_changed_or_is_asked_for(tmp_path: Path):
    filled: list[Cache] = []
    said: list[str] = []
    cache = ensure(tmp_path, fill_with("a", filled), said)
    assert ensure(tmp_path, fill_with("a", filled), said) == cache
    assert (len(filled), filled[0].filling, cache.filling) == (1, True, False)
    (cache.folder / "huggingface" / "x.lock").touch()
    ensure(tmp_path, fill_with("a", filled), said)
    assert len(filled) == 1
    (cache.folder / "huggingface" / "x").write_text("tampered")
    ensure(tmp_path, fill_with("a", filled), said)
    assert (len(filled), said[1]) == (2, f"the cache {cache.folder} was changed: preparing again")
    assert "not what it was" not in said[-1]
    ensure(tmp_path, fill_with("b", filled), said, again=True)
    assert (len(filled), said[-1].endswith("not what it was before")) == (3, True)
    other = ensure(
        tmp_path, fill_with("a", filled), said, egress=Egress(mode=Mode.ALLOWLIST, allow=("x",))
    )
    assert other != cache


def test_a_long_prepare_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prepare, "SAY_EVERY_SECONDS", 0.01)
    said: list[str] = []

    async def slow(cache: Cache) -> None:
        (cache.folder / "half").write_text("half")
        while not said:
            await asyncio.sleep(0.01)

    ensure(tmp_path, slow, said)
    assert said[0] == "still preparing: 4 bytes so far"


def test_a_prepare_that_fails_leaves_nothing_that_counts(tmp_path: Path):
    async def broken(cache: Cache) -> None:
        (cache.folder / "half").write_text("half")
        raise EnvironmentFailure("no")

    with pytest.raises(EnvironmentFailure):
        ensure(tmp_path, broken, [])
    assert not list(tmp_path.glob("*.complete"))
    filled: list[Cache] = []
    cache = ensure(tmp_path, fill_with("a", filled), [])
    assert len(filled) == 1
    assert not (cache.folder / "half").exists()
    # An older one that was complete does not count either, once a new one has begun.
    with pytest.raises(EnvironmentFailure):
        ensure(tmp_path, broken, [], again=True)
    assert not list(tmp_path.glob("*.complete"))
