"""What works on this machine: each part is launched, not looked for."""

import asyncio
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from uv import find_uv_bin

from envwright.errors import EnvwrightError
from envwright.model.local import is_pulled, serve_local
from envwright.model.preset import PRESETS
from envwright.record import Record
from envwright.sandbox import Command, Sandbox
from envwright.sandbox.cgroup import make_group
from envwright.store import Blobs, Store
from envwright.store.blobs import open_objects
from envwright.store.engine import try_database

LOOK_AROUND = """
import os, socket
leaks = []
with open("/proc/net/route") as routes:
    leaks += ["network"] if len(routes.readlines()) > 1 else []
leaks += ["home"] if os.path.isdir(HOME) and os.listdir(HOME) else []
leaks += ["root"] if os.access("/usr", os.W_OK) else []
print("leaks:", ", ".join(leaks) or "none")
"""
AGENT_PROGRAMS = ("claude", "codex", "opencode", "pi")


class State(StrEnum):
    WORKS = "works"
    BROKEN = "broken"
    ABSENT = "absent"
    """Not there, and not needed."""


class Part(Record):
    name: str
    state: State
    said: str

    @property
    def is_broken(self) -> bool:
        return self.state is State.BROKEN


async def examine(
    sandbox: Sandbox,
    home: Path,
    cache: Path,
    variables: Mapping[str, str],
    database_url: str | None = None,
    blob_url: str | None = None,
) -> list[Part]:
    return [
        Part(name="python", state=State.WORKS, said=sys.version.split()[0]),
        await examine_sandbox(sandbox),
        await examine_isolation(sandbox),
        examine_limits(),
        await examine_uv(),
        await asyncio.to_thread(examine_store, home, database_url),
        await examine_blobs(home, blob_url, variables),
        await examine_local_model(cache),
        *examine_keys(variables),
        *[await examine_program(name) for name in AGENT_PROGRAMS],
    ]


async def examine_sandbox(sandbox: Sandbox) -> Part:
    problem = await sandbox.check()
    state = State.WORKS if problem is None else State.BROKEN
    return Part(name=sandbox.name, state=state, said=problem or "a sandbox was started")


async def examine_isolation(sandbox: Sandbox) -> Part:
    """From inside: is there a network, a home, a writable root?"""
    script = LOOK_AROUND.replace("HOME", repr(str(Path.home())))
    try:
        process = await sandbox.start(
            Command(
                argv=("/usr/bin/env", "python3", "-c", script), variables={"PATH": "/usr/bin:/bin"}
            )
        )
        await process.wait()
    except EnvwrightError as error:
        return Part(name="isolation", state=State.BROKEN, said=str(error))
    said = process.tail.strip().splitlines()[-1:] or ["nothing"]
    if "python3" in said[0] and "leaks" not in said[0]:
        return Part(name="isolation", state=State.ABSENT, said="no system python3 to look with")
    closed = said[0] == "leaks: none"
    return Part(name="isolation", state=State.WORKS if closed else State.BROKEN, said=said[0])


def examine_limits() -> Part:
    group = make_group(2**30, 64, None)
    if group is None:
        said = "cgroups cannot be written: memory is limited per process, not per sandbox"
        return Part(name="limits", state=State.ABSENT, said=said)
    group.close()
    return Part(name="limits", state=State.WORKS, said="memory and processes, per sandbox")


async def examine_uv() -> Part:
    return await examine_command("uv", find_uv_bin(), needed=True)


async def examine_program(name: str) -> Part:
    found = shutil.which(name)
    if found is None:
        return Part(name=name, state=State.ABSENT, said="not on PATH")
    return await examine_command(name, found, needed=False)


async def examine_command(name: str, program: str, *, needed: bool) -> Part:
    try:
        child = await asyncio.create_subprocess_exec(
            *(program, "--version"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await asyncio.wait_for(child.communicate(), 30)
    except (OSError, TimeoutError) as error:
        state = State.BROKEN if needed else State.ABSENT
        return Part(name=name, state=state, said=f"does not start: {error}")
    good = child.returncode == 0
    state = State.WORKS if good else State.BROKEN if needed else State.ABSENT
    return Part(name=name, state=state, said=said.decode("utf-8", "replace").strip()[:100])


def examine_store(home: Path, database_url: str | None) -> Part:
    """The database of the URL, written to and left as it was; else one beside the real one."""
    try:
        if database_url is not None:
            return Part(name="store", state=State.WORKS, said=try_database(database_url))
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".doctor-", dir=home) as scratch:
            Store(Path(scratch)).close()
    except (OSError, EnvwrightError) as error:
        where = "" if database_url is not None else f"{home}: "
        return Part(name="store", state=State.BROKEN, said=f"{where}{error}")
    said = f"SQLite {sqlite3.sqlite_version} in {home}"
    return Part(name="store", state=State.WORKS, said=said)


async def examine_blobs(home: Path, blob_url: str | None, variables: Mapping[str, str]) -> Part:
    """A blob written and read."""
    try:
        blobs = Blobs(open_objects(home / "blobs", blob_url, variables))
        await blobs.check()
    except (OSError, EnvwrightError) as error:
        return Part(name="blobs", state=State.BROKEN, said=str(error))
    return Part(name="blobs", state=State.WORKS, said=f"in {blobs.shown}")


async def examine_local_model(cache: Path) -> Part:
    if not is_pulled(cache):
        return Part(name="local model", state=State.ABSENT, said="run `envwright model pull`")
    try:
        async with serve_local(cache) as url:
            return Part(name="local model", state=State.WORKS, said=f"answered at {url}")
    except EnvwrightError as error:
        return Part(name="local model", state=State.BROKEN, said=str(error))


def examine_keys(variables: Mapping[str, str]) -> list[Part]:
    """Names only; a key is never shown, and never tried without being asked to."""
    keys = [
        p.api_key_env for p in PRESETS.values() if p.api_key_env and variables.get(p.api_key_env)
    ]
    said = (
        f"set: {', '.join(keys)} (try one: `envwright model check PROVIDER/MODEL`)"
        if keys
        else "none is set"
    )
    return [Part(name="keys", state=State.WORKS if keys else State.ABSENT, said=said)]
