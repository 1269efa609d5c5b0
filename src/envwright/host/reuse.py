"""The user's own venv, in place of one that we build.

It is read as data: no program of it runs outside the sandbox. As a place it is trusted,
but it must not bring the user's home along, and what it lacks is said before anything
starts. Its content is part of what a trial's result depends on.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from envwright.environment import Installed, Source
from envwright.environment.distribution import (
    Distribution,
    content_of,
    distributions,
    editable_folder,
)
from envwright.errors import UsageError
from envwright.host.dialect import kind_of
from envwright.host.venv import Venv
from envwright.record import Digest, digest

VERSION = re.compile(r"3\.\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class OwnVenv:
    folder: Path
    base_prefix: Path
    version: str
    """Of its Python."""
    found: dict[str, Distribution]

    @property
    def content(self) -> Digest:
        return digest([self.version, content_of(self.found)])

    def distribution(self, wanted: Installed) -> Distribution:
        """The one of this name; `UsageError` when there is none, or of another version."""
        found = self.found.get(canonicalize_name(wanted.name))
        if found is None:
            raise UsageError(
                f"environment {wanted.name!r}: there is no such folder, "
                f"and it is not installed in {self.folder}",
                hint=f"install it there, or write OWNER/{wanted.name}@VERSION for a Hub id",
            )
        if wanted.version is not None and found.version != wanted.version:
            raise UsageError(
                f"environment {wanted.name!r}: {self.folder} has version {found.version}, "
                f"not {wanted.version}",
                hint="leave the version out, or install that one",
            )
        return found


def read_own_venv(path: Path, home: Path | None) -> OwnVenv:
    """The venv in this folder; `UsageError` when it is none that a sandbox could use."""
    folder = path.expanduser().resolve()
    settings = read_cfg(folder)
    sites = sorted(folder.glob("lib/python3*/site-packages"))
    base = Path(settings.get("home", "")).parent
    if len(sites) != 1 or not base.is_absolute():
        raise broken(folder, "its pyvenv.cfg or its site-packages is missing or unclear")
    if not sites[0].resolve().is_relative_to(folder):
        raise broken(folder, f"{sites[0]} leads out of it")
    name = sites[0].parent.name
    if not any((base / lib / name / "os.py").is_file() for lib in ("lib", "lib64")):
        raise broken(folder, f"there is no {name} in {base}")
    python = folder / "bin" / "python"
    real = Path(os.path.realpath(python))
    if not real.is_file() or not any(map(real.is_relative_to, (folder, base, base.resolve()))):
        raise broken(folder, f"its bin/python leads to {real}, and its pyvenv.cfg to {base}")
    if settings.get("include-system-site-packages", "").lower() == "true":
        raise UsageError(
            f"venv {folder} uses packages of the system, which are no part of it",
            hint="set include-system-site-packages = false in its pyvenv.cfg, and install them",
        )
    for shown in (folder, base, base.resolve()):
        if home is not None and (home.is_relative_to(shown) or shown == home / ".local"):
            raise UsageError(
                f"venv {folder}: to use it, environment code would have to see {shown}, "
                "and so your home",
                hint="make a venv in a folder of its own, with a Python of its own",
            )
    said = settings.get("version_info") or settings.get("version") or name.removeprefix("python")
    version = VERSION.match(said)
    if version is None:
        raise broken(folder, f"its pyvenv.cfg names the version {said!r}")
    return OwnVenv(folder, base, version.group(), distributions(sites[0]))


def read_cfg(folder: Path) -> dict[str, str]:
    file = folder / "pyvenv.cfg"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--venv {str(folder)!r} is no venv: it has no pyvenv.cfg",
            hint="name the folder that `python -m venv` or `uv venv` made",
        ) from error
    pairs = (line.partition("=") for line in lines)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def broken(folder: Path, why: str) -> UsageError:
    return UsageError(f"venv {folder} cannot be used: {why}", hint="make it anew")


def reuse(source: Source, own: OwnVenv) -> Venv:
    """The venv for this environment; `UsageError` when it lacks something."""
    check_python(source.name, source.requires_python, own)
    wanted = [Requirement(text) for text in source.dependencies]
    if problems := [why for each in wanted if (why := lack(each, own)) is not None]:
        missing = " ".join(f"'{each}'" for each in wanted if lack(each, own) is not None)
        raise UsageError(
            f"venv {own.folder} does not serve {source.name}: {'; '.join(problems)}",
            hint=f"run `uv pip install --link-mode copy --python {own.folder} {missing}`, "
            "or leave out --venv",
        )
    kind = kind_of(source, own.folder)
    return Venv(folder=own.folder, base_prefix=own.base_prefix, kind=kind, content=own.content)


def check_python(name: str, requires_python: str | None, own: OwnVenv) -> None:
    try:
        accepted = SpecifierSet(requires_python or "")
    except InvalidSpecifier:
        accepted = SpecifierSet()
    if not accepted.contains(own.version):
        raise UsageError(
            f"environment {name} wants Python {requires_python}, "
            f"and venv {own.folder} has {own.version}",
            hint="name another venv, or leave out --venv",
        )


def lack(wanted: Requirement, own: OwnVenv) -> str | None:
    """Why the venv does not meet a requirement; None when it does."""
    python = {
        "python_version": ".".join(own.version.split(".")[:2]),
        "python_full_version": own.version,
    }
    if wanted.marker is not None and not wanted.marker.evaluate({"extra": "", **python}):
        return None
    found = own.found.get(canonicalize_name(wanted.name))
    if found is None:
        return f"it has no {wanted.name}"
    if not wanted.specifier.contains(found.version, prereleases=True):
        return f"it has {wanted.name} {found.version}, not {wanted.specifier}"
    if (folder := editable_folder(found)) is not None:
        return f"its {wanted.name} lies in {folder}, which a sandbox does not see"
    if not Path(os.path.realpath(found.info / "METADATA")).is_relative_to(own.folder):
        return f"its {wanted.name} is only linked, and a sandbox does not see where to"
    return None
