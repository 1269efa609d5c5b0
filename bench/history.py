"""A store with many finished trials: what one sweep left there, copied under other names.

Rows are copied by SQL, in our tables and in DBOS's, as if that many trials had been run an
instant ago: nothing of it is old enough to be forgotten.
"""

from dataclasses import dataclass

import sqlalchemy as sa

ROWS = """
with recursive copies(copy) as (
    select 100001 union all select copy + 1 from copies where copy < 100000 + :copies
)
insert into {table} ({columns}) select {values} from {table} cross join copies{where}
"""


@dataclass(frozen=True)
class Copied:
    """A table, and the column that tells of which trial its rows are."""

    table: str
    name: str
    prefix: int = 0
    """How many characters of that are there before the trial's id."""
    left_out: tuple[str, ...] = ()
    """What is numbered anew."""
    where: str = ""

    @property
    def copied(self) -> str:
        """Another name of the same length."""
        begin, name = self.prefix, f'"{self.name}"'
        return f"substr({name}, 1, {begin}) || 'x' || copy || substr({name}, {begin + 8})"


JOB = len("trial:")
OURS = (
    Copied("trial", "id"),
    Copied("sweep_trial", "trial"),
    Copied("attempt", "trial"),
    Copied("grade", "trial"),
    Copied("model_call", "trial", left_out=("id",)),
    Copied("job", "id", JOB, where=" where kind = 'trial'"),
    Copied("job_after", "waits_for", JOB),
)
TICKETS = Copied("workflow_status", "workflow_uuid", JOB, where=" where queue_name <> 'control'")


def multiply_trials(engine: sa.Engine, times: int) -> None:
    """Each trial that is in the store, so many times."""
    schema = "dbos" if engine.dialect.name == "postgresql" else None
    with engine.begin() as connection:
        for each in (*OURS, TICKETS):
            where = schema if each is TICKETS else None
            described = sa.inspect(connection).get_columns(each.table, schema=where)
            columns = [one["name"] for one in described if one["name"] not in each.left_out]
            values = [each.copied if name == each.name else f'"{name}"' for name in columns]
            statement = ROWS.format(
                table=f"{where}.{each.table}" if where else each.table,
                columns=", ".join(f'"{name}"' for name in columns),
                values=", ".join(values),
                where=each.where,
            )
            connection.execute(sa.text(statement), {"copies": times - 1})
    if schema is not None:
        # A server does so by itself, in time; nobody does so for a file.
        with engine.begin() as connection:
            connection.execute(sa.text("analyze"))
