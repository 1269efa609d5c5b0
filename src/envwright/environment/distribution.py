"""A distribution as it lies in a folder of installed ones: its metadata and its own files.

It is read as data, and it is not trusted: a record that names files elsewhere brings
none of them along. Programs and data that an installer puts beside the folder, and its
own notes on the installation, are no part of a revision; so a package is the same
revision wherever it is installed.
"""

import csv
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envwright.environment.source import (
    Project,
    Source,
    belongs,
    module_of,
    read_folder,
    read_requirement,
    source_of,
)
from envwright.errors import UsageError
from envwright.record import digest, mapping

KEPT_METADATA = ("METADATA", "entry_points.txt")
PROGRAMS = "bin"
"""Where an installer puts programs beside the packages; their first line names its Python."""
MOST_BYTES = 16 * 2**20
NAMES_EXTRA = re.compile(r"\bextra\b\s*[=!]=|[=!]=\s*\bextra\b")


@dataclass(frozen=True, slots=True)
class Distribution:
    name: str
    version: str
    info: Path
    """Its `.dist-info`."""

    @property
    def site(self) -> Path:
        return self.info.parent


def distributions(site: Path) -> dict[str, Distribution]:
    """All that is installed in a folder, by standard name."""
    found: dict[str, Distribution] = {}
    for info in sorted(site.glob("*.dist-info")):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        if name and version:
            found[canonicalize_name(name)] = Distribution(name, version, info)
    return found


def read_installed(distribution: Distribution) -> Source:
    """A distribution of the user's own venv; one that is installed with `-e` is its folder."""
    folder = editable_folder(distribution)
    module = module_of(distribution.name)
    own = {f"{module}.py", f"{module}/__init__.py"}.intersection(read_record(distribution))
    # A package may carry any note; one that lies here is not installed from elsewhere.
    if folder is None or own:
        return read_distribution(distribution)
    return read_editable(distribution, folder)


def read_distribution(distribution: Distribution) -> Source:
    """The environment that it is; `UsageError` when it is none."""
    project = read_metadata(distribution)
    return source_of(project, distribution.site, tuple(read_record(distribution)))


def read_metadata(distribution: Distribution) -> Project:
    file = distribution.info / "METADATA"
    # A stray byte in a description is no reason to refuse; one in a name will not match.
    headers = HeaderParser().parsestr(read_capped(distribution, "METADATA"))
    name = str(headers.get("Name") or "")
    if canonicalize_name(name) != canonicalize_name(distribution.name):
        raise UsageError(f"{file} names another package: {name!r}", hint="install it again")
    declared = [read_requirement(file, str(e)) for e in headers.get_all("Requires-Dist") or []]
    wanted = headers.get("Requires-Python")
    return Project(
        name=name,
        dependencies=tuple(str(each) for each in declared if is_needed(each)),
        requires_python=None if wanted is None else str(wanted),
        manifest=file,
    )


def is_needed(requirement: Requirement) -> bool:
    """Whether it belongs to the package itself and not to an extra of it."""
    marker = requirement.marker
    if marker is None or not NAMES_EXTRA.search(str(marker)):
        return True
    return marker.evaluate({"extra": ""})


def read_record(distribution: Distribution) -> Iterator[str]:
    """The names of its own files, from the folder that it is installed in."""
    try:
        rows = list(csv.reader(read_capped(distribution, "RECORD").splitlines()))
    except csv.Error as error:
        raise UsageError(
            f"{distribution.info / 'RECORD'}: {error}", hint="install the package again"
        ) from error
    for name in sorted({row[0] for row in rows if row}):
        path = PurePosixPath(name)
        if not path.parts or "\0" in name or path.is_absolute() or ".." in path.parts:
            continue
        beside = path.parts[0] == PROGRAMS or path.parts[0].endswith(".dist-info")
        if not beside and belongs(path):
            yield path.as_posix()
    for name in KEPT_METADATA:
        if (distribution.info / name).is_file():
            yield f"{distribution.info.name}/{name}"


def read_capped(distribution: Distribution, name: str) -> str:
    """A file of its metadata as text; one that leads elsewhere or has no end is refused."""
    file = distribution.info / name
    inside = Path(os.path.realpath(file)).is_relative_to(os.path.realpath(distribution.site))
    if not (file.is_file() and inside and file.stat().st_size <= MOST_BYTES):
        raise UsageError(
            f"{distribution.name}: {file} cannot be read", hint="install the package again"
        )
    return file.read_text(encoding="utf-8", errors="replace")


def editable_folder(distribution: Distribution) -> Path | None:
    """The folder that it is installed from with `-e`; None when it lies here itself."""
    try:
        said = mapping(json.loads(read_capped(distribution, "direct_url.json")))
    except (UsageError, ValueError):
        return None
    url = urlsplit(str(said.get("url")))
    if not mapping(said.get("dir_info")).get("editable") or url.scheme != "file" or url.netloc:
        return None
    return Path(url2pathname(url.path))


def read_editable(distribution: Distribution, folder: Path) -> Source:
    if not folder.is_dir():
        raise UsageError(
            f"{distribution.name} is installed from {folder}, which is not there",
            hint="install it again",
        )
    source = read_folder(folder.resolve())
    if canonicalize_name(source.name) != canonicalize_name(distribution.name):
        raise UsageError(
            f"{distribution.name} is installed from {folder}, which holds {source.name}",
            hint="install it again",
        )
    return source


def content_of(found: dict[str, Distribution]) -> str:
    """A digest of names and versions; of the files too where a version does not name them."""
    listing: list[list[str]] = []
    for name, each in sorted(found.items()):
        listing.append([name, each.version])
        if (each.info / "direct_url.json").is_file():
            rows = csv.reader(read_capped(each, "RECORD").splitlines())
            own = set(read_record(each))
            listing += sorted(row[:2] for row in rows if row and row[0] in own)
    return digest(listing)
