"""Revisions as blobs: another machine gets the same environment, and nothing but that."""

import asyncio
import io
import os
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

import pytest
import zstandard

from envwright.environment import read_folder, snapshot
from envwright.environment.source import digest_of_folder
from envwright.errors import EnvwrightError, UsageError
from envwright.store import Blobs, revision
from envwright.store.blobs import open_objects
from envwright.store.revision import blob_names, fetch_revision, keep_revision
from s3 import serve_s3
from support import make_environment


@pytest.fixture
def blobs(tmp_path):
    return Blobs(open_objects(tmp_path / "blobs", None, {}))


@pytest.fixture
def source(tmp_path):
    """A snapshot with a program, links to a file and to a folder, and names that are not ASCII."""
    root = make_environment(tmp_path / "here")
    (root / "tool.sh").write_text("#!/bin/sh\n")
    (root / "tool.sh").chmod(0o750)
    (root / "data" / ("deep" * 40)).mkdir(parents=True)
    (root / "data" / ("deep" * 40) / "größe.txt").write_text("x" * 1000)
    (root / "latest").symlink_to("data")
    (root / "data" / "tool").symlink_to("../tool.sh")
    (root / ".env").write_text("KEY=sk-not-to-be-kept")
    return snapshot(read_folder(root), tmp_path / "here" / "revisions")


def keep(blobs, source):
    asyncio.run(keep_revision(blobs, source))


def fetch(blobs, source, tmp_path):
    return asyncio.run(fetch_revision(blobs, source.revision, tmp_path / "there" / "revisions"))


def placed(source, fetched):
    """The source as the other machine should see it."""
    inside = source.import_path.relative_to(source.folder)
    folder = fetched.folder
    return source.model_copy(update={"folder": folder, "import_path": folder / inside})


def assert_the_same(source, fetched, tmp_path):
    assert fetched == placed(source, fetched)
    assert fetched.folder == tmp_path / "there" / "revisions" / source.revision
    assert digest_of_folder(fetched.folder) == source.revision
    assert (fetched.folder / "tool.sh").stat().st_mode & 0o777 == 0o755
    assert (fetched.folder / "pyproject.toml").stat().st_mode & 0o777 == 0o644
    assert (fetched.folder / "data" / "tool").readlink() == Path("../tool.sh")
    assert [each.name for each in fetched.folder.parent.iterdir()] == [source.revision]


def test_another_machine_gets_the_same_revision(blobs, source, tmp_path):
    keep(blobs, source)
    assert_the_same(source, fetch(blobs, source, tmp_path), tmp_path)
    assert [each.name for each in source.folder.parent.iterdir()] == [source.revision]
    kept = b"".join(p.read_bytes() for p in (tmp_path / "blobs").rglob("*.zst"))
    assert b"sk-not-to-be-kept" not in kept


def test_a_revision_larger_than_a_part_goes_over_http(source, tmp_path, monkeypatch):
    monkeypatch.setattr("envwright.store.blobs.PART_BYTES", 5 * 2**20)
    (source.folder / "data" / "large.bin").write_bytes(os.urandom(12 * 2**20))
    larger = snapshot(read_folder(source.folder), tmp_path / "again")
    with serve_s3() as s3:
        url = f"s3://{s3.new_bucket()}/team"
        blobs = Blobs(open_objects(tmp_path / "blobs", url, s3.variables))
        keep(blobs, larger)
        assert_the_same(larger, fetch(blobs, larger, tmp_path), tmp_path)


def test_a_revision_is_packed_the_same_wherever_it_lies(source, tmp_path):
    moved = snapshot(source, tmp_path / "elsewhere")
    for each in moved.folder.rglob("*"):
        os.utime(each, (1, 1), follow_symlinks=False)
    for each, name in ((source, "one"), (moved, "two")):
        revision.pack(each, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_revision_is_kept_once(blobs, source, tmp_path):
    keep(blobs, source)
    (tmp_path / "blobs" / blob_names(source.revision)[0]).write_bytes(b"as it was")
    keep(blobs, source)
    assert (tmp_path / "blobs" / blob_names(source.revision)[0]).read_bytes() == b"as it was"


def test_what_a_builder_wrote_stays_so_and_no_index_is_kept(blobs, source, tmp_path):
    url = "https://user:sk-canary@hub.example/someone/simple/"
    keep(blobs, source.model_copy(update={"index": url, "owner": "someone"}))
    assert not fetch(blobs, source, tmp_path).built
    keep(blobs, source.model_copy(update={"built": True}))
    keep(blobs, source)
    fetched = fetch(blobs, source, tmp_path)
    assert fetched.built
    assert fetched.index is None
    assert b"sk-canary" not in blobs.get(blob_names(source.revision)[1])


def test_a_local_snapshot_is_used_as_it_is(blobs, source, tmp_path):
    keep(blobs, source)
    first = fetch(blobs, source, tmp_path)
    (tmp_path / "blobs" / blob_names(source.revision)[0]).unlink()
    assert fetch(blobs, source, tmp_path) == first


def test_a_revision_that_nobody_kept_is_one_line(blobs, source, tmp_path):
    with pytest.raises(UsageError, match=rf"revision {source.revision[:12]} is not in .*submit"):
        fetch(blobs, source, tmp_path)
    keep(blobs, source)
    (tmp_path / "blobs" / blob_names(source.revision)[0]).unlink()
    with pytest.raises(UsageError, match="is not in"):
        fetch(blobs, source, tmp_path)


def entry(name, content=b"", **fields):
    made = tarfile.TarInfo(name)
    made.size = len(content)
    for field, value in fields.items():
        setattr(made, field, value)
    return made, content


def archive_of(*entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for made, content in entries:
            archive.addfile(made, io.BytesIO(content))
    return out.getvalue()


def link(name, target):
    return entry(name, type=tarfile.SYMTYPE, linkname=target)


def headless(size):
    """A long name's header that promises so many bytes."""
    made = tarfile.TarInfo("name")
    made.type, made.size = tarfile.GNUTYPE_LONGNAME, size
    return made.tobuf(tarfile.GNU_FORMAT) + b"x" * 4096


HOSTILE = {
    "above": (archive_of(entry("../escaped", b"x")), "no part of a revision"),
    "inside-out": (archive_of(entry("a/../../escaped", b"x")), "no part of a revision"),
    "absolute": (archive_of(entry("/tmp/escaped", b"x")), "no part of a revision"),
    "nowhere": (archive_of(entry(".", b"x")), "cannot be unpacked"),
    "link-out": (archive_of(link("out", "../../..")), "links to"),
    "link-absolute": (archive_of(link("out", "/etc")), "links to"),
    "link-round": (
        # By its text the second stays inside; by what the first is, it does not.
        archive_of(entry("a/b/x", b""), link("a/b/up", "../.."), link("out", "a/b/up/../..")),
        "links to",
    ),
    "through-link": (
        archive_of(link("door", "../.."), entry("door/escaped", b"x")),
        "two of its files have one name",
    ),
    "twice": (archive_of(entry("a", b"x"), entry("a", b"y")), "two of its files have one name"),
    "device": (archive_of(entry("null", type=tarfile.CHRTYPE)), "neither a file nor a link"),
    "pipe": (archive_of(entry("pipe", type=tarfile.FIFOTYPE)), "neither a file nor a link"),
    "hard-link": (
        archive_of(entry("hard", type=tarfile.LNKTYPE, linkname="/etc/passwd")),
        "neither a file nor a link",
    ),
    "sparse": (archive_of(entry("sparse", type=tarfile.GNUTYPE_SPARSE)), "neither a file nor"),
    "bytecode": (
        # No digest sees it, and Python would run it.
        archive_of(entry("probe/__pycache__/x.cpython-311.pyc", b"x")),
        "no part of a revision",
    ),
    "keys": (archive_of(entry(".env", b"KEY=1")), "no part of a revision"),
    "huge": (archive_of(entry("zeros", b"\0" * 200_000)), "more than"),
    "many": (archive_of(*(entry(f"f{n}") for n in range(60))), "more than"),
    "endless-header": (headless(2**33), "one of its headers has no end"),
    "no-archive": (b"no archive" * 100, "cannot be unpacked"),
    "empty": (archive_of(), "its content is"),
    "cut": (archive_of(entry("zeros", b"\0" * 50_000))[:20_000], "cannot be unpacked"),
}


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE)
def test_what_no_revision_holds_is_refused_in_one_line(
    blobs, source, tmp_path, monkeypatch, content, said
):
    monkeypatch.setattr(revision, "MOST_BYTES", 100_000)
    monkeypatch.setattr(revision, "MOST_FILES", 50)
    before = set(tmp_path.rglob("*"))
    keep(blobs, source)
    packed = tmp_path / "blobs" / blob_names(source.revision)[0]
    packed.write_bytes(zstandard.compress(content))
    with pytest.raises(EnvwrightError, match=said) as raised:
        fetch(blobs, source, tmp_path)
    assert "is damaged" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert list((tmp_path / "there" / "revisions").iterdir()) == []
    new = {path for path in set(tmp_path.rglob("*")) - before if "blobs" not in path.parts}
    assert new == {tmp_path / "there", tmp_path / "there" / "revisions"}


def test_a_blob_of_another_revision_is_refused(blobs, source, tmp_path):
    (source.folder / "probe" / "__init__.py").write_text("import os\n")
    keep(blobs, source)
    with pytest.raises(EnvwrightError, match="is damaged: its content is"):
        fetch(blobs, source, tmp_path)


@pytest.mark.parametrize(
    ("told", "by"),
    [
        ('"import_path":"."', '"import_path":"../other"'),
        ('"manifest":"pyproject.toml"', '"manifest":"/etc/passwd"'),
        ('"verifiers<0.5,>=0.4"', '"--index-url=http://evil.example"'),
        ('"module":"probe"', '"module":"a;b"'),
        ("{", "{{"),
    ],
)
def test_notes_that_lie_are_refused_in_one_line(blobs, source, tmp_path, told, by):
    keep(blobs, source)
    name = blob_names(source.revision)[1]
    said = blobs.get(name).decode()
    assert told in said
    asyncio.run(blobs.put(name, said.replace(told, by, 1).encode()))
    with pytest.raises(EnvwrightError, match="is damaged: what is known of it") as raised:
        fetch(blobs, source, tmp_path)
    assert "\n" not in str(raised.value)


def test_several_at_once_get_one_whole_revision(blobs, source, tmp_path):
    keep(blobs, source)
    program = textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from envwright.store import Blobs
        from envwright.store.blobs import open_objects
        from envwright.store.revision import fetch_revision
        blobs = Blobs(open_objects(Path({str(tmp_path / "blobs")!r}), None, {{}}))
        there = Path({str(tmp_path / "there" / "revisions")!r})
        async def main():
            wanted = [fetch_revision(blobs, {source.revision!r}, there) for _ in range(4)]
            await asyncio.gather(*wanted)
        asyncio.run(main())
    """)
    others = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [each.wait(60) for each in others] == [0, 0]
    assert_the_same(source, fetch(blobs, source, tmp_path), tmp_path)
