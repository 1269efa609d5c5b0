"""Prepare: an environment is loaded once with a network of its own, to fill its cache.

The cache belongs to one revision with its arguments, its venv and that egress. Every later
host sees what was written there at the same path and cannot change it. What counts as
complete is said beside the folder, where code in the sandbox cannot write: a prepare that
failed or was killed leaves nothing that counts.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from envwright.environment.egress import Egress
from envwright.errors import UsageError
from envwright.host.venv import Say, locked
from envwright.record import Record, digest, mapping

CACHES = {
    "HF_HOME": "huggingface",
    "HF_DATASETS_CACHE": "huggingface/datasets",
    "NLTK_DATA": "nltk",
    "TIKTOKEN_CACHE_DIR": "tiktoken",
    "XDG_CACHE_HOME": "",
}
"""Variables that say where downloads are kept → the folder in the cache."""

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
"""What keeps libraries from asking a network that is not there."""


SAY_EVERY_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Preparation:
    """That an environment is to be prepared, and how."""

    egress: Egress
    folder: Path
    """Where caches live."""
    again: bool = False
    """Whatever is there already."""


@dataclass(frozen=True, slots=True)
class Cache:
    """Where downloads are; filled once, read by every host after that."""

    folder: Path
    filling: bool = False
    content: str | None = None
    """The digest of what is in it, once it is complete."""

    @property
    def kept(self) -> Path:
        """Where a sandbox sees what was filled in; at `folder` it has links to that."""
        return self.folder.with_name(f"{self.folder.name}.kept")

    def variables(self) -> dict[str, str]:
        places = {name: str(self.folder / inside) for name, inside in CACHES.items()}
        return {**places, **({} if self.filling else OFFLINE)}


class Prepared(Record):
    """What is known of a cache that is complete."""

    files: int
    size_bytes: int
    content: str
    """The digest of all that is in it."""
    listing: str
    """The digest of names, sizes and times: what is cheap to compare."""


async def ensure_prepared(
    wanted: Preparation,
    identity: tuple[object, ...],
    fill: Callable[[Cache], Awaitable[None]],
    say: Say,
) -> Cache:
    """The cache of this identity, filled when it is not there or not as it was left."""
    name = digest([*identity, wanted.egress.model_dump(mode="json")])[:16]
    folder, again = wanted.folder, wanted.again
    cache = Cache(folder / name)
    folder.mkdir(parents=True, exist_ok=True)
    async with locked(folder / f"{name}.lock"):
        complete = folder / f"{name}.complete"
        last = read_prepared(complete)
        if last is not None and not again:
            if await asyncio.to_thread(listing_of, cache.folder) == last.listing:
                return replace(cache, content=last.content)
            say(f"the cache {cache.folder} was changed: preparing again")
        complete.unlink(missing_ok=True)
        empty(cache.folder)
        telling = asyncio.create_task(tell_size(cache.folder, say))
        try:
            await fill(Cache(cache.folder, filling=True))
        finally:
            telling.cancel()
        now = await asyncio.to_thread(take_stock, cache.folder)
        complete.write_text(now.model_dump_json())
        said = f"prepared: {now.files} files, {now.size_bytes} bytes, digest {now.content[:12]}"
        changed = last is not None and last.content != now.content
        say(f"{said}; not what it was before" if changed else said)
    return replace(cache, content=now.content)


async def tell_size(folder: Path, say: Say) -> None:
    """Now and then, how much has come."""
    while True:
        await asyncio.sleep(SAY_EVERY_SECONDS)
        size = await asyncio.to_thread(size_of, folder)
        say(f"still preparing: {size} bytes so far")


def size_of(folder: Path) -> int:
    """What lies in it while it is being written."""
    size = 0
    with contextlib.suppress(OSError):
        for _, _, state in entries(folder):
            size += state.st_size
    return size


def read_prepared(path: Path) -> Prepared | None:
    try:
        return Prepared.model_validate(mapping(json.loads(path.read_text())))
    except (OSError, ValueError):
        return None


def empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
    except OSError as error:
        raise UsageError(
            f"the cache {folder} cannot be emptied: {error.strerror}", hint="remove it"
        ) from error
    for inside in CACHES.values():
        (folder / inside).mkdir(parents=True, exist_ok=True)


def entries(folder: Path) -> Iterator[tuple[str, Path, os.stat_result]]:
    """All that lies in it but locks, in one order; no link is followed."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        links = [f for f in folders if (Path(parent) / f).is_symlink()]
        for name in sorted([*files, *links]):
            if not name.endswith(".lock"):
                path = Path(parent) / name
                inside = os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace")
                yield inside, path, path.lstat()


def listing_of(folder: Path) -> str:
    return digest([[name, s.st_mode, s.st_size, s.st_mtime_ns] for name, _, s in entries(folder)])


def take_stock(folder: Path) -> Prepared:
    content: list[list[str]] = []
    size = files = 0
    for name, path, state in entries(folder):
        if stat.S_ISREG(state.st_mode):
            with path.open("rb") as file:
                content.append([name, hashlib.file_digest(file, "sha256").hexdigest()])
            size, files = size + state.st_size, files + 1
        elif stat.S_ISLNK(state.st_mode):
            content.append([name, "link", os.fsencode(path.readlink()).hex()])
        else:
            # Opening a pipe would wait for ever.
            content.append([name, "other"])
    return Prepared(
        files=files, size_bytes=size, content=digest(content), listing=listing_of(folder)
    )
