"""A Hub id → its package, fetched once from the owner's index and kept by content.

The index is an ordinary one, and uv asks it in the build sandbox. Wheels come first: to
unpack one runs no code. What comes only as source is built with a private cache, and
only from an index whose URL holds no key, for its build could read it.
"""

import re
import shutil
import tempfile
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envwright.environment import HubId, Source, snapshot
from envwright.environment.distribution import distributions, read_distribution, read_metadata
from envwright.environment.source import digest_of_folder, source_of
from envwright.errors import UsageError
from envwright.host.interpreter import own
from envwright.host.uv import Uv, gist, has_key, needs_building, without_key
from envwright.host.venv import Builder
from envwright.record import digest
from envwright.sandbox import Mount

REFUSED = re.compile(r"\b(401|403)\b")

Said = tuple[int, str]
"""uv's exit code and its words."""


async def fetch(wanted: HubId, index: str, builder: Builder, shelves: Path) -> Source:
    """The environment of this id, from the cache where it is there; `UsageError` for none."""
    url = index_of(wanted.owner, index)
    shelf = shelves / digest([url])[:16] / wanted.owner / canonicalize_name(wanted.name)
    kept = read_kept(wanted, shelf / wanted.version, builder) if wanted.version else None
    if kept is None:
        shelves.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=shelves) as scratch:
            kept = await download(wanted, url, Path(scratch), builder, shelf)
    return kept.model_copy(update={"index": url, "owner": wanted.owner})


def index_of(owner: str, index: str) -> str:
    """Where the packages of an owner are listed."""
    return index.replace("{owner}", owner)


def read_kept(wanted: HubId, shelf: Path, builder: Builder) -> Source | None:
    # The first that was fetched stays what this version is.
    for folder in sorted(shelf.glob("[0-9a-f]*"), key=lambda folder: folder.stat().st_ctime):
        if digest_of_folder(folder) == folder.name:
            found = distributions(folder)[canonicalize_name(wanted.name)]
            return source_of(read_metadata(found), folder)
        builder.say(f"{wanted}: the copy in the cache was changed; fetching it again")
        shutil.rmtree(folder)
    return None


async def download(wanted: HubId, url: str, scratch: Path, builder: Builder, shelf: Path) -> Source:
    builder.say(f"fetching {wanted} from {without_key(url)}")
    uv = builder.uv().only_index(url)
    code, said = await install(wanted, scratch, uv, builder, "--only-binary", ":all:")
    if code != 0 and needs_building(said) and not has_key(url):
        builder.say(f"{wanted} comes only as source: building it, apart")
        with tempfile.TemporaryDirectory(prefix="build-", dir=scratch.parent) as private:
            # What builds it comes from the ordinary indexes.
            uv = builder.uv(Path(private)).with_index(url)
            code, said = await install(wanted, scratch, uv, builder)
    if code != 0:
        raise unfetched(wanted, url, said, at_hand(shelf))
    found = distributions(scratch).get(canonicalize_name(wanted.name))
    if found is None:
        raise UsageError(
            f"environment {wanted}: what its index holds is another package", hint="check the id"
        )
    try:
        version = str(Version(found.version))
    except InvalidVersion as error:
        raise UsageError(
            f"environment {wanted}: its version {found.version!r} is none", hint="name another"
        ) from error
    if wanted.version is None:
        builder.say(f"taking {wanted}@{version}, the latest")
    source = read_distribution(found)
    if any(kept.name != source.revision for kept in (shelf / version).glob("[0-9a-f]*")):
        builder.say(
            f"warning: {wanted.owner}/{wanted.name}@{version} is not what it was when it was "
            f"fetched before: its owner published other content under the same version"
        )
    return snapshot(source, shelf / version)


async def install(wanted: HubId, target: Path, uv: Uv, builder: Builder, *only: str) -> Said:
    interpreter = own()
    requirement = f"{wanted.name}=={wanted.version}" if wanted.version else wanted.name
    arguments = (
        *("pip", "install", "--no-deps", "--target", str(target), *only),
        *("--python", str(interpreter.program), requirement),
        # What is latest is asked anew.
        *(() if wanted.version else ("--refresh-package", wanted.name)),
    )
    mounts = (Mount(interpreter.base_prefix), Mount(target, writable=True))
    with builder.follow(f"fetching {wanted}") as show:
        return await uv.run(arguments, mounts, show)


def unfetched(wanted: HubId, url: str, said: str, kept: list[str]) -> UsageError:
    """uv's failure in our words; it has no codes for them."""
    index = without_key(url)
    have = f"; at hand is {wanted.owner}/{wanted.name}@{kept[-1]}" if kept else ""
    if REFUSED.search(said):
        why, hint = f"{index} refuses to serve it", "it may be private: fetch it, name its folder"
    elif "not found in the package registry" in said:
        why, hint = f"there is no such package at {index}", "check the owner and the name"
    elif "Failed to fetch" in said or "error sending request" in said:
        why, hint = f"{index} cannot be reached", f"check the network and [hub] index{have}"
    elif "there is no version of" in said:
        why, hint = f"{index} has no such version of it", "leave the version out for the latest"
    elif needs_building(said):
        why = "it comes only as source, which is not built beside a key in the index's URL"
        hint = "fetch it and name its folder"
    else:
        why, hint = f"it cannot be fetched: {gist(said)}", "check the id and [hub] index"
    return UsageError(f"environment {wanted}: there is no such folder, and {why}", hint=hint)


def at_hand(shelf: Path) -> list[str]:
    """The versions in the cache, oldest first."""
    return sorted({each.parent.name for each in shelf.glob("*/[0-9a-f]*")}, key=Version)
