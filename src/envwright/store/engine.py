"""The database: opened, set up and brought to the newest schema.

SQLite in a file, or PostgreSQL by URL. What the two want differently is here and
nowhere else: how a writer takes its lock, how migrations are kept apart, and the
dialect's own `insert`. SQLite may lose the last moments when the machine (not the
program) dies, PostgreSQL nothing that it has committed; both are whole then.
"""

import random
import re
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.dialects import postgresql, sqlite

from envwright.errors import EnvwrightError, UsageError
from envwright.store.address import DATABASE_VARIABLE, parse_database, redact, shown_database
from envwright.store.schema import HEAD

T = TypeVar("T")
INSERTS = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
MIGRATION_LOCK = 0x656E7677
"""Any number, the same for all: whoever migrates holds it."""
CONNECT_SECONDS = 10
PATIENCE_SECONDS, RETRY_SECONDS = 60.0, 0.5
"""How long a server that went away in the middle of work is waited for."""
INSUFFICIENT_PRIVILEGE = "42501"
UNDONE = frozenset({"40001", "40P01"})
"""Two transactions stood in each other's way, and the server undid this one."""
QUEUE_CONNECTIONS = 20
RELEASE_OF_SCHEMA = re.compile(r"^\d+_v(\d+)_(\d+)_(\d+)$")


class Unreachable(UsageError):
    """The server is away, and was waited for in vain."""


class CommitUnknown(UsageError):
    """The server went away before it said whether it had committed."""


def open_engine(home: Path, database_url: str | None = None) -> sa.Engine:
    """PostgreSQL by its URL; else the SQLite file of this home."""
    engine = open_sqlite(home / "envwright.db") if database_url is None else connect(database_url)
    try:
        with reachable(engine):
            migrate(engine)
    except EnvwrightError:
        engine.dispose()
        raise
    return engine


def open_sqlite(path: Path) -> sa.Engine:
    """In WAL mode: readers never wait, a writer waits up to half a minute."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{path.parent} cannot be written: {error.strerror}",
            hint="set ENVWRIGHT_HOME to a folder of yours",
        ) from error
    engine = connect_sqlite(path)

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A writer takes the lock at once: upgraded later, it could fail for a stale snapshot.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("begin immediate" if writes else "begin")

    return engine


def connect_sqlite(path: Path) -> sa.Engine:
    url = sa.URL.create("sqlite", database=str(path))
    engine = sa.create_engine(url, connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        assert isinstance(connection, sqlite3.Connection)
        # No implicit transactions of the driver's: they leave DDL out.
        connection.isolation_level = None
        connection.execute("pragma busy_timeout=30000")
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=normal")
        connection.execute("pragma foreign_keys=on")
        # DBOS asks for it with fractions, which SQLite has only from 3.42 on.
        connection.create_function("unixepoch", -1, lambda *_: time.time())

    return engine


def open_queue_engine(home: Path, database_url: str | None = None) -> sa.Engine:
    """The same database for DBOS, whose threads have connections of their own."""
    if database_url is not None:
        return connect(database_url, pool_size=QUEUE_CONNECTIONS, max_overflow=QUEUE_CONNECTIONS)
    engine = connect_sqlite(home / "envwright.db")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("begin immediate")

    return engine


def connect(database_url: str, **more: Any) -> sa.Engine:
    # A connection that the server closed meanwhile is replaced before it is used.
    engine = sa.create_engine(
        parse_database(database_url),
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": CONNECT_SECONDS, "application_name": "envwright"},
        **more,
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        # A worker that was stopped in the middle of a transaction keeps its locks so long.
        connection.execute("set idle_in_transaction_session_timeout = '10s'")
        connection.commit()

    return engine


def try_database(database_url: str) -> str:
    """What answers there and where, once it was written to; nothing of it is kept."""
    engine = connect(database_url)
    try:
        with reachable(engine):
            refuse_newer(version_of(engine))
            with engine.connect() as connection:
                connection.execute(sa.text("create temporary table doctor (n integer)"))
                connection.execute(sa.text("insert into doctor values (1)"))
                version = connection.execute(sa.text("show server_version")).scalar()
                connection.rollback()
    finally:
        engine.dispose()
    return f"PostgreSQL {version} at {shown_database(engine.url)}"


@contextmanager
def reachable(engine: sa.Engine) -> Generator[None]:
    """A database that does not answer, or refuses, is said in one line without its password."""
    try:
        yield
    except exc.DBAPIError as error:
        if is_ours(error):
            raise
        where = shown_database(engine.url)
        server = engine.dialect.name != "sqlite"
        own = "check that the disk has room; a file that is damaged can be moved away"
        hint = f"check {DATABASE_VARIABLE}" if server else own
        kind = Unreachable if is_lost(engine, error) else UsageError
        raise kind(
            f"{where} cannot be used: {redact(str(error.orig), engine.url)}", hint=hint
        ) from error


def is_ours(error: exc.DBAPIError) -> bool:
    """A statement that no database would take is our own mistake, not the database's state."""
    if error.statement is None or getattr(error.orig, "sqlstate", None) == INSUFFICIENT_PRIVILEGE:
        return False
    return isinstance(error, exc.ProgrammingError | exc.IntegrityError | exc.DataError)


@contextmanager
def writing(engine: sa.Engine) -> Generator[sa.Connection]:
    """One transaction that writes: all of it or nothing."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        yield connection


def write_patiently(
    engine: sa.Engine, query: Callable[[sa.Connection], T], seconds: float = PATIENCE_SECONDS
) -> T:
    """As `writing`, through a server's restart: tried again as long as nothing was committed.

    A commit that is not answered may have happened: it is not repeated.
    """
    give_up_at = time.monotonic() + seconds
    while True:
        committing = False
        try:
            with engine.connect().execution_options(writes=True) as connection:
                transaction = connection.begin()
                result = query(connection)
                committing = True
                transaction.commit()
                return result
        except exc.DBAPIError as error:
            lost = is_lost(engine, error)
            if not (lost or is_undone(error)) or time.monotonic() > give_up_at:
                raise
            if committing and lost:
                raise CommitUnknown(
                    f"{shown_database(engine.url)} went away while it wrote: "
                    "what was under way may be kept or not",
                    hint="run the same command again",
                ) from error
            time.sleep(RETRY_SECONDS if lost else RETRY_SECONDS * random.random())


def read_patiently(
    engine: sa.Engine, query: Callable[[sa.Connection], T], seconds: float = PATIENCE_SECONDS
) -> T:
    """Through a server's restart."""
    give_up_at = time.monotonic() + seconds
    while True:
        try:
            with engine.connect() as connection:
                return query(connection)
        except exc.DBAPIError as error:
            if not is_lost(engine, error) or time.monotonic() > give_up_at:
                raise
        time.sleep(RETRY_SECONDS)


def is_undone(error: exc.DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) in UNDONE


def is_lost(engine: sa.Engine, error: exc.DBAPIError) -> bool:
    """Whether the server is gone, for a while perhaps; a file is there or it is not."""
    if engine.dialect.name == "sqlite":
        return False
    unreachable = isinstance(error, exc.OperationalError) and error.statement is None
    return error.connection_invalidated or unreachable


def insert_or_keep(connection: sa.Connection, table: sa.Table) -> sa.Insert:
    """`insert … on conflict do nothing` in the words of this database."""
    return INSERTS[connection.dialect.name](table).on_conflict_do_nothing()


def migrate(engine: sa.Engine) -> None:
    at = version_of(engine)
    if at == HEAD:
        return
    refuse_newer(at)
    upgrade(engine)


def refuse_newer(at: str | None) -> None:
    if at is not None and at > HEAD:
        release = RELEASE_OF_SCHEMA.match(at)
        newer = f"'envwright>={'.'.join(release.groups())}'" if release else "a newer envwright"
        raise UsageError(
            f"the store is at schema {at}, this program knows {HEAD}", hint=f"install {newer}"
        )


def version_of(engine: sa.Engine) -> str | None:
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(sa.text("select version_num from alembic_version")).scalar()


def upgrade(engine: sa.Engine, to: str = "head") -> None:
    from alembic import command  # noqa: PLC0415 - a quarter of a second, needed once per store
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        # Behind the lock: another process may have been first, then there is nothing to do.
        config.attributes["connection"] = connection
        command.upgrade(config, to)
