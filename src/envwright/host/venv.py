"""An environment's own venv: its declared dependencies, bytecode compiled, nothing of itself.

One per set of dependencies. uv runs in a sandbox that has a network but no home and no
keys. Wheels are tried first: they run no code, so they may share a download cache.
When something comes only as source, its build backend is code of others: then the
cache is a private one and thrown away.
"""

import asyncio
import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from envwright.environment import Kind, Source
from envwright.errors import UsageError
from envwright.host.dialect import kind_of, requirements_of
from envwright.host.interpreter import Interpreter, find_interpreter
from envwright.host.uv import Follow, Say, Uv, gist, has_key, needs_building
from envwright.record import Digest, digest
from envwright.sandbox import Command, Mount, Sandbox

REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True, slots=True)
class Venv:
    folder: Path
    base_prefix: Path
    """Where its interpreter really lives."""
    kind: Kind
    """What its verifiers serves."""
    content: Digest | None = None
    """Of a venv of the user's; one of ours follows from the revision."""

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """All of it that a sandbox must see; a prefix may be a link to where it really is."""
        paths = (self.folder, self.base_prefix, self.base_prefix.resolve())
        return tuple(map(Mount, dict.fromkeys(paths)))

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Builder:
    """What building needs: where venvs live, the shared cache, the sandbox, the variables."""

    venvs: Path
    cache: Path
    sandbox: Sandbox
    variables: dict[str, str]
    say: Say
    follow: Follow

    def uv(self, cache: Path | None = None) -> Uv:
        """With the shared cache, or a private one where code of others runs."""
        return Uv(self.sandbox, self.variables, cache or self.cache)


async def ensure_venv(source: Source, builder: Builder) -> Venv:
    """The venv of this dependency set, built when it is not there yet."""
    interpreter = await find_interpreter(source.name, source.requires_python)
    base = interpreter.base_prefix
    requirements, added = requirements_of(source)
    index = [source.index] if source.index else []
    wanted = digest([sorted(requirements), interpreter.version, str(base), *index])[:16]
    folder = builder.venvs / wanted
    builder.venvs.mkdir(parents=True, exist_ok=True)
    async with locked(builder.venvs / f"{wanted}.lock"):
        # Beside the folder: what was built in there cannot have made it.
        complete = builder.venvs / f"{wanted}.complete"
        if not (complete.exists() and folder.is_dir()):
            complete.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            if added is not None:
                builder.say(added)
            builder.say(f"building the venv of {source.name} ({', '.join(requirements)})")
            (folder / REQUIREMENTS).write_text("\n".join(requirements) + "\n")
            await build(folder, interpreter, source, builder)
            complete.touch()
    return Venv(folder=folder, base_prefix=base, kind=kind_of(source, folder))


async def build(folder: Path, interpreter: Interpreter, source: Source, builder: Builder) -> None:
    install = (
        *("pip", "install", "--python", str(folder / "bin" / "python")),
        *("-r", str(folder / REQUIREMENTS)),
    )
    mounts = (Mount(interpreter.base_prefix), Mount(folder, writable=True))
    create = ("venv", "--python", str(interpreter.program), "--no-project", "--allow-existing")
    with builder.follow(f"building the venv of {source.name}") as show:
        uv = builder.uv()
        code, said = await uv.run((*create, str(folder)), mounts, show)
        if code == 0:
            wheels = (*install, "--only-binary", ":all:")
            code, said = await uv.with_index(source.index).run(wheels, mounts, show)
    if code != 0 and needs_building(said):
        builder.say("something comes only as source: building it, apart")
        index = None if source.index is None or has_key(source.index) else source.index
        with (
            tempfile.TemporaryDirectory(prefix="build-", dir=builder.venvs) as private,
            builder.follow(f"building the venv of {source.name}") as show,
        ):
            uv = builder.uv(Path(private)).with_index(index)
            code, said = await uv.run(install, mounts, show)
    if code == 0:
        with builder.follow(f"compiling the venv of {source.name}"):
            await compile_bytecode(folder, interpreter.base_prefix, builder)
    if code != 0:
        shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(
            f"the dependencies of {source.name} cannot be installed: {gist(said)}",
            hint=f"check the dependencies in {source.folder / source.manifest}, "
            "and that the package registry can be reached",
        )


async def compile_bytecode(folder: Path, base_prefix: Path, builder: Builder) -> None:
    """Apart from the install, without network or cache: a wheel may hold `.pth` files, and
    whatever starts an interpreter in the venv runs them. `-S` leaves them alone."""
    process = await builder.sandbox.start(
        Command(
            argv=(
                *(str(folder / "bin" / "python"), "-I", "-S", "-m", "compileall", "-q", "-j", "0"),
                str(folder / "lib"),
            ),
            mounts=(Mount(base_prefix), Mount(folder, writable=True)),
            variables={"HOME": "/tmp", "PATH": "/usr/bin:/bin"},
        )
    )
    try:
        # Some packages carry files that do not compile; they are not imported either.
        await process.wait()
    except asyncio.CancelledError:
        process.kill()
        raise


@contextlib.asynccontextmanager
async def locked(path: Path) -> AsyncGenerator[None]:
    """Hold a file lock; another process's is waited for without blocking the loop."""
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(0.2)
        yield
