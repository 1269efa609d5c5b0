"""`python bench/idle.py FILE QUEUES SECONDS`: DBOS alone, with nothing to do.

Queues that are polled so often, on a SQLite file of its own; prints a line once it is there.
"""

import sqlite3
import sys
import time
from typing import Any

import sqlalchemy as sa
from dbos import DBOS


def main() -> None:
    file, queues, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    engine = sa.create_engine(f"sqlite:///{file}", connect_args={"check_same_thread": False})

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _: Any) -> None:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=normal")
        connection.create_function("unixepoch", -1, lambda *_: time.time())

    DBOS(
        config={
            "name": "idle",
            "system_database_engine": engine,
            "application_version": "idle",
            "use_listen_notify": False,
            "log_level": "CRITICAL",
            "console_log_level": "CRITICAL",
        }
    )
    DBOS.launch()
    for n in range(queues):
        DBOS.register_queue(f"queue-{n}", polling_interval_sec=seconds)
    print("ready", flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    main()
