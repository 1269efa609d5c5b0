"""The host package where a host can import it and nothing else of ours.

It is copied aside, for its neighbours in our own site-packages would come before the
environment's; compiled there, for a sandbox can write no bytecode.
"""

import compileall
import shutil
import tempfile
from pathlib import Path

import envwright_host
from envwright.environment.source import digest_of_folder

HERE = Path(envwright_host.__file__).resolve().parent


def place_package(folder: Path) -> Path:
    """A folder that holds `envwright_host` alone, named by its content."""
    placed = folder / f"host-{digest_of_folder(HERE)[:16]}"
    if not placed.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".host-", dir=folder))
        try:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(HERE, scratch / HERE.name, ignore=ignored)
            checked = compileall.compile_dir(
                scratch, quiet=2, stripdir=str(scratch), prependdir=str(placed)
            )
            assert checked, "the host package does not compile"
            scratch.chmod(0o755)
            try:
                scratch.rename(placed)
            except OSError:
                # Another process was first; the name is the content, so its copy is ours.
                if not placed.is_dir():
                    raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return placed
