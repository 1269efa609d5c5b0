"""What a user may write for an environment: a folder, an installed name, or a Hub id."""

import re
from pathlib import Path

from packaging.version import InvalidVersion, Version

from envwright.errors import UsageError
from envwright.record import Record

HUB_ID = re.compile(r"([A-Za-z0-9][\w-]*)/([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?:@([\w.+!-]+))?")
BARE = re.compile(r"([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?:@([\w.+!-]+))?")


class HubId(Record):
    owner: str
    name: str
    version: str | None
    """None for the latest."""

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}" + (f"@{self.version}" if self.version else "")


class Installed(Record):
    """A distribution in the venv that the user names."""

    name: str
    version: str | None


Address = Path | HubId | Installed


def read_address(text: str, *, venv: bool) -> Address:
    """Which of them `text` is; a bare name is one only beside a venv that it can lie in."""
    if not text.strip():
        raise UsageError("which environment?", hint="name a folder, or OWNER/NAME@VERSION")
    path = Path(text).expanduser()
    if path.is_dir():
        return path.resolve()
    if path.exists():
        raise UsageError(f"environment {text!r} is a file", hint="name the folder that holds it")
    if found := HUB_ID.fullmatch(text):
        owner, name, version = found.groups()
        return HubId(owner=owner, name=name, version=read_version(text, version))
    if found := BARE.fullmatch(text):
        name, version = found.groups()
        if venv:
            return Installed(name=name, version=read_version(text, version))
        raise UsageError(
            f"environment {text!r}: there is no such folder, and a bare name is ambiguous",
            hint=f"write ./{name} for a folder, OWNER/{name}@VERSION for a Hub id, "
            "or give the venv that it is installed in with --venv",
        )
    raise UsageError(f"environment {text!r}: no such folder", hint="check the path")


def read_version(text: str, version: str | None) -> str | None:
    if version in (None, "latest"):
        return None
    try:
        return str(Version(version))
    except InvalidVersion as error:
        raise UsageError(
            f"environment {text!r}: {version!r} is no version", hint="write it as @0.1.0"
        ) from error
