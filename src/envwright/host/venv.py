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
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from envwright.environment import Kind, Source
from envwright.errors import SandboxError, UsageError
from envwright.host.dialect import kind_of, requirements_of
from envwright.host.interpreter import Interpreter, find_interpreter
from envwright.record import digest
from envwright.sandbox import Command, Confinement, Mount, Sandbox

PASSED_VARIABLES = (
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
    *("UV_INDEX_STRATEGY", "UV_NATIVE_TLS", "SSL_CERT_FILE", "SSL_CERT_DIR", "UV_OFFLINE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""What uv needs to find the registry; everything else stays outside."""

REQUIREMENTS = "requirements.txt"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Venv:
    folder: Path
    base_prefix: Path
    """Where its interpreter really lives."""
    kind: Kind
    """What its verifiers serves."""

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


async def ensure_venv(source: Source, builder: Builder) -> Venv:
    """The venv of this dependency set, built when it is not there yet."""
    interpreter = await find_interpreter(source)
    base = interpreter.base_prefix
    requirements, added = requirements_of(source)
    wanted = digest([sorted(requirements), interpreter.version, str(base)])[:16]
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
        *("pip", "install", "--python", str(folder / "bin" / "python"), "--no-progress"),
        *("-r", str(folder / REQUIREMENTS)),
    )
    builder.cache.mkdir(parents=True, exist_ok=True)
    mounts = (Mount(interpreter.base_prefix), Mount(folder, writable=True))
    create = ("venv", "--python", str(interpreter.program), "--no-project", "--allow-existing")
    code, said = await uv((*create, str(folder)), mounts, builder, builder.cache)
    if code == 0:
        wheels = (*install, "--only-binary", ":all:")
        code, said = await uv(wheels, mounts, builder, builder.cache)
    if code != 0 and "usable wheels" in said:
        builder.say("something comes only as source: building it, apart")
        with tempfile.TemporaryDirectory(prefix="build-", dir=builder.venvs) as private:
            code, said = await uv(install, mounts, builder, Path(private))
    if code == 0:
        await compile_bytecode(folder, interpreter.base_prefix, builder)
    if code != 0:
        shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(
            f"the dependencies of {source.name} cannot be installed: {gist(said)}",
            hint=f"check [project] dependencies in {source.folder / 'pyproject.toml'}, "
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


async def uv(
    arguments: tuple[str, ...], mounts: tuple[Mount, ...], builder: Builder, cache: Path
) -> tuple[int, str]:
    program = Path(find_uv_bin()).resolve()
    command = Command(
        argv=(str(program), "--no-config", *arguments),
        mounts=(Mount(program), *mounts, Mount(cache, writable=True)),
        variables={
            **{
                name: builder.variables[name]
                for name in PASSED_VARIABLES
                if name in builder.variables
            },
            "UV_CACHE_DIR": str(cache),
            "UV_LINK_MODE": "copy",
            "HOME": "/tmp",
            "PATH": "/usr/bin:/bin",
            "NO_COLOR": "1",
        },
        confinement=Confinement(network=True),
    )
    process = await builder.sandbox.start(command)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.kill()
        raise
    if code == 125:
        raise SandboxError(f"the build sandbox could not be entered: {process.tail}")
    return code, process.tail


def gist(said: str) -> str:
    """uv's own reason on one line."""
    lines = [line.strip(" ╰─▶│×├") for line in said.splitlines() if line.strip()]
    return " ".join(lines)[-500:] or "uv said nothing"


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
