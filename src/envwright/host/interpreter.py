"""Which Python an environment gets: ours, unless its `requires-python` wants another."""

import asyncio
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envwright.errors import UsageError

OTHERS = ("python3.13", "python3.12", "python3.11", "python3.14", "python3")
ASK = "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.base_prefix, sep='\\n')"


@dataclass(frozen=True, slots=True)
class Interpreter:
    program: Path
    version: str
    base_prefix: Path
    """Where it really lives; a sandbox must see this."""


def own() -> Interpreter:
    base = Path(sys.base_prefix).resolve()
    version = ".".join(map(str, sys.version_info[:3]))
    named = base / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    program = named if named.exists() else Path(os.path.realpath(sys.executable))
    return Interpreter(program, version, base)


async def find_interpreter(name: str, requires_python: str | None) -> Interpreter:
    """An interpreter that the environment accepts; `UsageError` when there is none."""
    ours = own()
    if requires_python is None:
        return ours
    try:
        accepted = SpecifierSet(requires_python)
    except InvalidSpecifier as error:
        raise UsageError(
            f"environment {name}: requires-python {requires_python!r} is no version",
            hint='write requires-python = ">=3.11"',
        ) from error
    if accepted.contains(ours.version):
        return ours
    for program in OTHERS:
        found = await ask(program)
        if found is not None and accepted.contains(found.version):
            return found
    raise UsageError(
        f"environment {name} wants Python {requires_python}, this is {ours.version}",
        hint="put such a python3.x on PATH",
    )


async def ask(name: str) -> Interpreter | None:
    program = shutil.which(name)
    if program is None:
        return None
    child = await asyncio.create_subprocess_exec(
        *(program, "-I", "-c", ASK),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    said, _ = await child.communicate()
    lines = said.decode("utf-8", "replace").splitlines()
    if child.returncode != 0 or len(lines) != 2:
        return None
    base = Path(lines[1]).resolve()
    named = base / "bin" / f"python{lines[0].rpartition('.')[0]}"
    return Interpreter(named if named.exists() else Path(program), lines[0], base)
