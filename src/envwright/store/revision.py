"""Revisions as blobs: a worker on another machine gets an environment from the store alone.

    revisions/ab/abcd….tar.zst   its files: in one order, without times and owners
    revisions/ab/abcd….json.zst  what is known of it beside them; written last

What comes back is not trusted: nothing is written outside its folder, nothing but files and
links that stay inside is made, no more than a cap, and its digest is computed anew before it
counts. Its owner on a Hub and the index of its dependencies are not kept here: the same content
may have two owners, and an index's URL may hold a key.
"""

import asyncio
import os
import shutil
import stat
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import Self

import zstandard
from packaging.requirements import InvalidRequirement, Requirement
from pydantic import Field, ValidationError, field_validator

from envwright.environment import Source
from envwright.environment.source import (
    belongs,
    digest_of_folder,
    files_of,
    put_in_place,
    target_of,
)
from envwright.errors import EnvwrightError, UsageError
from envwright.record import Record
from envwright.store.blobs import Blobs

MOST_BYTES = 8 * 2**30
"""Of a revision, unpacked."""
MOST_FILES = 200_000
MOST_HEADER_BYTES = 2**16
"""Of a long name: tarfile reads it in one piece."""
MOST_WINDOW_BYTES = 2**23
COPIED_BYTES = 2**20
RESUBMIT = "submit the sweep again where the environment's folder is"


class Damaged(Exception):
    """What came back is no revision, or not this one."""


class Notes(Record):
    """What is known of a revision beside its files: a `Source` without a place."""

    name: str
    module: str = Field(pattern=r"^\w+$")
    import_path: str
    manifest: str
    dependencies: tuple[str, ...]
    requires_python: str | None = None
    has_load_environment: bool = False
    built: bool = False

    @field_validator("import_path", "manifest")
    @classmethod
    def stays_inside(cls, path: str) -> str:
        if not is_inside(path):
            raise ValueError("it leads out of the revision")
        return path

    @field_validator("dependencies")
    @classmethod
    def are_requirements(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        # Whatever else such a text holds would be an option of the installer.
        for text in texts:
            try:
                Requirement(text)
            except InvalidRequirement as error:
                raise ValueError(f"{text!r} is no requirement") from error
        return texts

    @classmethod
    def of(cls, source: Source) -> Self:
        return cls(
            name=source.name,
            module=source.module,
            import_path=source.import_path.relative_to(source.folder).as_posix(),
            manifest=source.manifest,
            dependencies=source.dependencies,
            requires_python=source.requires_python,
            has_load_environment=source.has_load_environment,
            built=source.built,
        )

    def source(self, revision: str, folder: Path) -> Source:
        own = self.model_dump(exclude={"import_path"})
        return Source(
            revision=revision, folder=folder, import_path=folder / self.import_path, **own
        )


async def keep_revision(blobs: Blobs, source: Source) -> None:
    """A snapshot into the blobs, unless it is there."""
    files, notes = blob_names(source.revision)
    known = await read_notes(blobs, source.revision)
    if known is None:
        with tempfile.TemporaryDirectory(prefix=".pack-", dir=source.folder.parent) as scratch:
            packed = Path(scratch, "packed")
            await asyncio.to_thread(pack, source, packed)
            await blobs.put_file(files, packed)
    # One that was written by a builder stays so, whoever else has the same content.
    elif known.built or not source.built:
        return
    await blobs.put(notes, Notes.of(source).model_dump_json().encode())


async def fetch_revision(blobs: Blobs, revision: str, revisions: Path) -> Source:
    """The snapshot under `revisions`, brought from the blobs when it is not there yet."""
    notes = await read_notes(blobs, revision)
    files, _ = blob_names(revision)
    kept = revisions / revision
    if notes is not None and not kept.is_dir():
        size = await blobs.size(files)
        notes = None if size is None else notes
        if size is not None:
            await asyncio.to_thread(bring, blobs, files, size, kept)
    if notes is None:
        raise UsageError(f"revision {revision[:12]} is not in {blobs.shown}", hint=RESUBMIT)
    return notes.source(revision, kept)


def blob_names(revision: str) -> tuple[str, str]:
    """Of its files, and of what is known of it."""
    stem = f"revisions/{revision[:2]}/{revision}"
    return f"{stem}.tar.zst", f"{stem}.json.zst"


async def read_notes(blobs: Blobs, revision: str) -> Notes | None:
    _, name = blob_names(revision)
    if await blobs.size(name) is None:
        return None
    try:
        return Notes.model_validate_json(await blobs.get_async(name))
    except ValidationError as error:
        why = error.errors(include_url=False)[0]["msg"]
        raise refusal(blobs, revision, f"what is known of it cannot be read: {why}") from error


def pack(source: Source, packed: Path) -> None:
    compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
    with (
        packed.open("wb") as out,
        compressor.stream_writer(out, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in files_of(source.folder, source.files):
            entry = tarfile.TarInfo(path.relative_to(source.folder).as_posix())
            if path.is_symlink():
                entry.type, entry.linkname = tarfile.SYMTYPE, target_of(path)
                archive.addfile(entry)
                continue
            # As the digest tells them apart.
            entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            with path.open("rb") as file:
                entry.size = os.fstat(file.fileno()).st_size
                archive.addfile(entry, file)


def bring(blobs: Blobs, name: str, size: int, kept: Path) -> None:
    """A blob → the folder that it packs, under its final name at once or not at all."""
    revision, revisions = kept.name, kept.parent
    revisions.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=revisions)).resolve()
    try:
        if size > MOST_BYTES:
            raise Damaged(f"it has more than {MOST_BYTES} bytes")
        packed, folder = scratch / "packed", scratch / "folder"
        blobs.get_file(name, size, packed)
        folder.mkdir()
        unpack(packed, folder)
        if (found := checked_digest(folder)) != revision:
            raise Damaged(f"its content is {found[:12]}")
        put_in_place(folder, kept)
    except Damaged as error:
        raise refusal(blobs, revision, str(error)) from error
    except OSError as error:
        raise UsageError(
            f"revision {revision[:12]} cannot be unpacked in {revisions}: {error.strerror}",
            hint="check that the disk has room and can be written",
        ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def unpack(packed: Path, folder: Path) -> None:
    """Files first, links last: while a file is written, no link is there to lead it elsewhere."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW_BYTES)
    links: list[tuple[Path, str]] = []
    files, left = 0, MOST_BYTES
    try:
        with (
            packed.open("rb") as file,
            decompressor.stream_reader(file) as stream,
            tarfile.open(fileobj=stream, mode="r|", tarinfo=Entry) as archive,
        ):
            for entry in archive:
                files, left = files + 1, left - entry.size
                if files > MOST_FILES or left < 0:
                    raise Damaged(f"it has more than {MOST_FILES} files or {MOST_BYTES} bytes")
                place = place_of(entry, folder)
                place.parent.mkdir(parents=True, exist_ok=True)
                if entry.issym():
                    links.append((place, entry.linkname))
                else:
                    write(archive, entry, place)
                # Else the archive remembers every one of them.
                archive.members = []  # pyright: ignore[reportAttributeAccessIssue]
        for place, target in links:
            place.symlink_to(target)
    except (tarfile.TarError, zstandard.ZstdError, EOFError, ValueError) as error:
        raise Damaged(f"it cannot be unpacked: {error}") from error
    except (FileExistsError, NotADirectoryError) as error:
        raise Damaged("two of its files have one name") from error


def place_of(entry: tarfile.TarInfo, folder: Path) -> Path:
    """Where an entry goes; `Damaged` for whatever no revision holds."""
    name = entry.name
    if not is_inside(name) or not belongs(PurePosixPath(name)):
        raise Damaged(f"{name!r} is no part of a revision")
    if not entry.issym() and (not entry.isfile() or entry.issparse()):
        raise Damaged(f"{name!r} is neither a file nor a link")
    return folder / name


def write(archive: tarfile.TarFile, entry: tarfile.TarInfo, place: Path) -> None:
    content = archive.extractfile(entry)
    assert content is not None
    with place.open("xb") as out:
        shutil.copyfileobj(content, out, COPIED_BYTES)
    place.chmod(0o755 if entry.mode & stat.S_IXUSR else 0o644)


class Entry(tarfile.TarInfo):
    """One whose headers are short: what tarfile reads in one piece is bounded."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        entry = super().frombuf(buf, encoding, errors)
        is_header = entry.type not in (*tarfile.REGULAR_TYPES, tarfile.SYMTYPE)
        if is_header and entry.size > MOST_HEADER_BYTES:
            raise Damaged("one of its headers has no end")
        return entry


def checked_digest(folder: Path) -> str:
    try:
        return digest_of_folder(folder)
    except UsageError as error:
        # A link that leads out of it.
        raise Damaged(error.message.replace(f"{folder}/", "")) from error


def is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not (path.is_absolute() or ".." in path.parts or "\0" in name)


def refusal(blobs: Blobs, revision: str, why: str) -> EnvwrightError:
    return EnvwrightError(
        f"revision {revision[:12]} in {blobs.shown} is damaged: {why}",
        hint=f"remove its blobs {' and '.join(blob_names(revision))}, and {RESUBMIT}",
    )
