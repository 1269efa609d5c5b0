"""`envwright queue`: status, limit, park, open."""

import asyncio
import sys
from datetime import UTC, datetime

import click

from envwright.app import App
from envwright.app import queue as queues
from envwright.cli.output import cell, console, print_json_line, say, short, table, usd_text
from envwright.cli.shared import json_option, run_async
from envwright.cli.sweep_options import POSITIVE, finite
from envwright.record import Json

WHY_WIDTH = 48
"""Of what is said beside a time in a table; --json has all of it."""


@click.group()
def queue() -> None:
    """Queues, one per model: status, limit, park, open."""


@queue.command()
@json_option
def status(as_json: bool) -> None:
    """Every queue: its limits, what runs and waits, what its provider said lately."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            rows = await queues.status(app)
        if as_json:
            for row in rows:
                print_json_line(row)
            return 0
        columns = [("queue", False), ("limit", True), ("live", True), ("running", True)]
        columns += [("waiting", True), ("parked", True), ("until", False), ("429s", True)]
        shown = table(None, [*columns, ("per minute", True), ("spend", True)])
        for row in rows:
            shown.add_row(*(cell(each) for each in cells(row)))
        console().print(shown)
        if not rows:
            say("no queue yet: the first run makes them")
        return 0

    sys.exit(run_async(main))


def cells(row: Json) -> list[str]:
    names = ("queue", "limit", "live_limit", "running", "waiting", "parked")
    until = row["parked_until"]
    shown = "" if until is None else str(until).partition(".")[0].replace("T", " ")
    why = f" ({short(str(row['why']), WHY_WIDTH)})" if row["why"] and until is not None else ""
    more = [f"{shown}{why}", str(row["rate_limited"]), f"{row['per_minute']:.1f}"]
    return [*(str(row[name]) for name in names), *more, usd_text(row["spend_usd"])]


@queue.command()
@click.argument("name")
@click.argument("limit", type=click.IntRange(1))
def limit(name: str, limit: int) -> None:
    """Run at most LIMIT trials of queue NAME at once, in all workers together."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            await app.jobs.set_limit(name, limit)
        say(f"queue {name}: at most {limit} at once")
        return 0

    sys.exit(run_async(main))


@queue.command()
@click.argument("name")
@click.option(
    "--seconds", type=POSITIVE, callback=finite, help="For so long; by default until it is opened."
)
@click.option("--why", metavar="TEXT", help="Shown beside it.")
def park(name: str, seconds: float | None, why: str | None) -> None:
    """Start nothing of queue NAME; what runs is finished."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            until = await queues.park(app, name, seconds, why)
        when = "until it is opened" if until is None else f"until {shown_time(until)}"
        say(f"queue {name} is parked {when}")
        return 0

    sys.exit(run_async(main))


def shown_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


@queue.command("open")
@click.argument("name")
def open_(name: str) -> None:
    """Open queue NAME at its full limit, whatever its provider said."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            await app.jobs.open(name)
        say(f"queue {name} is open")
        return 0

    sys.exit(run_async(main))
