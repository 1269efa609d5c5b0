"""Limits on a whole tree of processes, where the kernel lets us set them.

cgroup v2 when it is delegated to us, else v1; None where neither is writable, and the
limits of single processes must do. A group is entered before the command starts, so
nothing escapes it; groups that a killed worker left are removed by the next one.
"""

import contextlib
import itertools
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OURS = re.compile(r"^envwright-(\d+)-\d+$")
_count = itertools.count(1)
_left: set[Path] = set()
"""Folders that could not be removed yet: what was killed in them had not quite ended."""


@dataclass(frozen=True, slots=True)
class Group:
    """One tree's limits: the folders whose `cgroup.procs` it must enter."""

    folders: tuple[Path, ...]

    @property
    def entrances(self) -> tuple[str, ...]:
        return tuple(str(folder / "cgroup.procs") for folder in self.folders)

    def close(self) -> None:
        """Kill what is left in it and remove it."""
        for folder in self.folders:
            for pid in members(folder):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            _left.add(folder)
        remove_left()


def members(folder: Path) -> list[int]:
    try:
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def remove_left() -> None:
    for folder in list(_left):
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            continue
        _left.discard(folder)


def make_group(memory_bytes: int, processes: int, cpus: float | None) -> Group | None:
    """A fresh group with these limits; None where none can be made."""
    name = f"envwright-{os.getpid()}-{next(_count)}"
    made: list[Path] = []
    for base, settings in places(memory_bytes, processes, cpus):
        folder = base / name
        try:
            folder.mkdir()
            made.append(folder)
            for file, value in settings.items():
                (folder / file).write_text(value)
        except OSError:
            Group(tuple(made)).close()
            return None
    return Group(tuple(made)) if made else None


def places(
    memory_bytes: int, processes: int, cpus: float | None
) -> Iterator[tuple[Path, dict[str, str]]]:
    """Where to make folders, and what to write in each."""
    own = own_paths()
    if (v2 := own.get("")) and "pids" in controllers(ROOT / v2.lstrip("/")):
        settings = {"pids.max": str(processes), "memory.max": str(memory_bytes)}
        if cpus:
            settings["cpu.max"] = f"{int(cpus * 100_000)} 100000"
        yield ROOT / v2.lstrip("/"), settings
        return
    if "pids" in own:
        yield ROOT / "pids" / own["pids"].lstrip("/"), {"pids.max": str(processes)}
    if "memory" in own:
        settings = {"memory.limit_in_bytes": str(memory_bytes)}
        yield ROOT / "memory" / own["memory"].lstrip("/"), settings
    if cpus and "cpu" in own:
        settings = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(int(cpus * 100_000))}
        yield ROOT / "cpu" / own["cpu"].lstrip("/"), settings


def own_paths() -> dict[str, str]:
    """Controller → our own path in it; the empty name is v2's."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            for name in names.split(","):
                found[name] = path
    return found


def controllers(folder: Path) -> set[str]:
    """What children of `folder` may be limited in."""
    with contextlib.suppress(OSError):
        return set((folder / "cgroup.subtree_control").read_text().split())
    return set()


def sweep_stale() -> None:
    """Remove groups of workers that are gone."""
    for base, _ in places(2**30, 1, 1.0):
        with contextlib.suppress(OSError):
            for folder in base.iterdir():
                found = OURS.match(folder.name)
                if found and not Path(f"/proc/{found.group(1)}").exists():
                    Group((folder,)).close()
