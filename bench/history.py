"""A store with many finished trials: what one sweep left there, copied under other names.

Rows are copied by SQL, in our tables and in DBOS's, as if that many trials had been run an
instant ago: nothing of it is old enough to be forgotten.
"""

from dataclasses import dataclass

import sqlalchemy as sa

ROWS = """
with recursive copies(n) as (select 1 union all select n + 1 from copies where n < :copies)
insert into {table} ({columns}) select {values} from {table} cross join copies{where}
"""


@dataclass(frozen=True)
class Copied:
    """A table, the columns that tell its rows apart, and those that are numbered anew."""

    table: str
    names: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    where: str = ""


OURS = (
    Copied("trial", ("id",)),
    Copied("sweep_trial", ("trial",)),
    Copied("attempt", ("trial",)),
    Copied("grade", ("trial",)),
    Copied("model_call", ("trial",), left_out=("id",)),
    Copied("job", ("id",), where=" where kind = 'trial'"),
    Copied("job_after", ("waits_for",)),
)
TICKETS = Copied("workflow_status", ("workflow_uuid",))


def multiply_trials(engine: sa.Engine, times: int) -> None:
    """Each trial that is in the store, so many times."""
    schema = "dbos" if engine.dialect.name == "postgresql" else None
    with engine.begin() as connection:
        for each in (*OURS, TICKETS):
            where = schema if each is TICKETS else None
            described = sa.inspect(connection).get_columns(each.table, schema=where)
            columns = [one["name"] for one in described if one["name"] not in each.left_out]
            values = [copied(name) if name in each.names else f'"{name}"' for name in columns]
            statement = ROWS.format(
                table=f"{where}.{each.table}" if where else each.table,
                columns=", ".join(f'"{name}"' for name in columns),
                values=", ".join(values),
                where=each.where,
            )
            connection.execute(sa.text(statement), {"copies": times - 1})
    with engine.begin() as connection:
        connection.execute(sa.text("analyze"))


def copied(name: str) -> str:
    """Another name of the same length, as far as it is known by its first characters."""
    return f"""'x' || n || substr("{name}", 2 + length(cast(n as varchar(9))))"""
