"""`envwright sweep`: submit, list, status, watch, cancel, resume."""

import asyncio
import sys

import click

from envwright.app import App
from envwright.app import sweep as sweeping
from envwright.app.sweep import Watch
from envwright.budget import Budget
from envwright.cli.bars import Bars
from envwright.cli.output import cell, console, print_json, print_json_line, say, table, usd_text
from envwright.cli.progress import follow
from envwright.cli.run import exit_code, print_result
from envwright.cli.shared import json_option, run_async, until
from envwright.cli.sweep_options import POSITIVE, finite, sweep_options
from envwright.options import SweepOptions
from envwright.record import Json

SERVE = "`envwright worker` works on it; `envwright sweep watch {}` follows it"


@click.group()
def sweep() -> None:
    """Sweeps: submit, list, status, watch, cancel, resume."""


@sweep.command()
@sweep_options
@json_option
def submit(sweep: SweepOptions, *, sandbox: str, as_json: bool) -> None:
    """Queue trials on the tasks of ENVIRONMENT for whatever workers there are."""

    async def main(stop: asyncio.Event) -> int:
        async with App.make(sandbox=sandbox, say=say, follow=follow, sweep=sweep) as app:
            name = await until(stop, sweeping.submit(app, sweep))
        if as_json:
            print_json({"sweep": name})
        else:
            click.echo(f"sweep: {name}")
            say(SERVE.format(name))
        return 0

    sys.exit(run_async(main))


@sweep.command("list")
@click.option("--label", metavar="TEXT", help="Only those with this label.")
@click.option(
    "-n", "count", type=click.IntRange(1), default=20, show_default=True, help="How many."
)
@json_option
def list_(label: str | None, count: int, as_json: bool) -> None:
    """Sweeps, newest first; with --json one object per line."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            rows = sweeping.list_sweeps(app, count, label)
        if as_json:
            for row in rows:
                print_json_line(row)
            return 0
        columns = [("sweep", False), ("environment", False), ("state", False), ("labels", False)]
        shown = table(None, [*columns, ("tokens", True), ("cost", True)])
        for row in rows:
            words = [str(row[name]) for name in ("sweep", "environment", "state")]
            spent = [str(row["spent_tokens"]), usd_text(row["spent_usd"])]
            shown.add_row(*(cell(each) for each in [*words, ", ".join(row["labels"]), *spent]))
        console().print(shown)
        return 0

    sys.exit(run_async(main))


@sweep.command()
@click.argument("sweep_id", metavar="ID")
@json_option
def status(sweep_id: str, as_json: bool) -> None:
    """How a sweep stands: every trial of it is counted once."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            print_status(await sweeping.status(app, sweep_id), as_json=as_json)
        return 0

    sys.exit(run_async(main))


def print_status(found: Json, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    words = ("waiting", "parked", "running", "cancelled")
    columns = [("agent", False), ("scored", True), ("solved", True), ("failed", False)]
    shown = table(None, [*columns, *((word, True) for word in words)])
    for agent, row in found["agents"].items():
        failed = ", ".join(f"{count} {cause}" for cause, count in row["failed"].items()) or "0"
        cells = [agent, f"{row['scored']}/{row['total']}", str(row["solved"]), failed]
        shown.add_row(*(cell(each) for each in [*cells, *(str(row[word]) for word in words)]))
    console().print(shown)
    why = f" ({found['why']})" if found["why"] else ""
    click.echo(f"state: {found['state']}{why}")
    click.echo(f"spent: {found['spent_tokens']} tokens, {usd_text(found['spent_usd'])}")


@sweep.command()
@click.argument("sweep_id", metavar="ID")
@json_option
def watch(sweep_id: str, as_json: bool) -> None:
    """Follow a sweep to its end, and print what it came to. Ctrl-C ends only the watching."""

    async def main(stop: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            with Bars() as bars:
                result = await sweeping.watch(app, sweep_id, Watch(bars.planned, bars.seen, stop))
            if stop.is_set():
                say(f"the sweep goes on without you: `envwright sweep watch {result.sweep}`")
                return exit_code(result, stopped=True)
        print_result(result, as_json=as_json)
        return exit_code(result, stopped=False)

    sys.exit(run_async(main))


@sweep.command()
@click.argument("sweep_id", metavar="ID")
@json_option
def cancel(sweep_id: str, as_json: bool) -> None:
    """End a sweep: what waits is dropped, what runs is killed. What is scored stays."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            ended = await sweeping.cancel(app, sweep_id)
        if as_json:
            print_json(ended)
        else:
            click.echo(
                f"cancelled: {ended['waiting']} trials that waited, {ended['running']} that ran; "
                f"{ended['killed']} sandboxes were killed"
            )
            if ended["left"]:
                say(f"{ended['left']} still run: their worker has not answered yet")
        return 0

    sys.exit(run_async(main))


@sweep.command()
@click.argument("sweep_id", metavar="ID")
@click.option("--budget-usd", type=POSITIVE, callback=finite, help="Another cap in dollars.")
@click.option("--budget-tokens", type=click.IntRange(1), help="Another cap in tokens.")
@click.option("--budget-seconds", type=POSITIVE, callback=finite, help="Another cap in time.")
@json_option
def resume(
    sweep_id: str,
    budget_usd: float | None,
    budget_tokens: int | None,
    budget_seconds: float | None,
    as_json: bool,
) -> None:
    """Put back what has no reward: of a sweep that was stopped, cancelled, spent, or failed."""
    more = Budget(usd=budget_usd, tokens=budget_tokens, wall_seconds=budget_seconds)

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            name, queued = await sweeping.resume(app, sweep_id, more)
        if as_json:
            print_json({"sweep": name, "queued": queued})
        else:
            click.echo(f"sweep: {name}")
            say(f"{queued} trials are queued; {SERVE.format(name)}")
        return 0

    sys.exit(run_async(main))
