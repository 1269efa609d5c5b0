"""The database: opened, set up and brought to the newest schema."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from envwright.errors import UsageError
from envwright.store.schema import HEAD


def open_engine(path: Path) -> sa.Engine:
    """SQLite in WAL mode: readers never wait, a writer waits up to half a minute."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{path.parent} cannot be written: {error.strerror}",
            hint="set ENVWRIGHT_HOME to a folder of yours",
        ) from error
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)), connect_args={"check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        assert isinstance(connection, sqlite3.Connection)
        # No implicit transactions of the driver's: they leave DDL out.
        connection.isolation_level = None
        connection.execute("pragma busy_timeout=30000")
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=normal")
        connection.execute("pragma foreign_keys=on")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A writer takes the lock at once: upgraded later, it could fail for a stale snapshot.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("begin immediate" if writes else "begin")

    try:
        migrate(engine)
    except exc.DatabaseError as error:
        raise UsageError(
            f"{path} cannot be used: {error.orig}", hint="move it away, or set ENVWRIGHT_HOME"
        ) from error
    return engine


@contextmanager
def writing(engine: sa.Engine) -> Generator[sa.Connection]:
    """One transaction that writes: all of it or nothing."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        yield connection


def migrate(engine: sa.Engine) -> None:
    at = version_of(engine)
    if at == HEAD:
        return
    if at is not None and at > HEAD:
        raise UsageError(
            f"the store is at schema {at}, this program knows {HEAD}",
            hint="install a newer envwright",
        )
    upgrade(engine)


def version_of(engine: sa.Engine) -> str | None:
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(sa.text("select version_num from alembic_version")).scalar()


def upgrade(engine: sa.Engine) -> None:
    from alembic import command  # noqa: PLC0415 - a quarter of a second, needed once per store
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with writing(engine) as connection:
        # Behind the lock: another process may have been first, then there is nothing to do.
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
