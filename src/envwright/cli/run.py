"""`envwright run`: trials of agents on an environment's tasks, with a bar and a table."""

import asyncio
import sys

import click

from envwright.app import App
from envwright.app.plan import estimate_all
from envwright.app.sweep import Watch
from envwright.app.sweep import run as run_sweep
from envwright.cli import EXIT_FINDINGS, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OURS, EXIT_USAGE
from envwright.cli.bars import Bars
from envwright.cli.output import (
    cell,
    console,
    interval_text,
    print_json,
    say,
    table,
    usd_text,
)
from envwright.cli.progress import follow
from envwright.cli.shared import json_option, run_async, until
from envwright.cli.sweep_options import sweep_options
from envwright.errors import Cause
from envwright.options import SweepOptions
from envwright.work.estimate import Estimate
from envwright.work.result import AgentResult, SweepResult


@click.command()
@sweep_options
@click.option("--dry-run", is_flag=True, help="Plan and estimate the cost; start nothing.")
@json_option
def run(sweep: SweepOptions, *, sandbox: str, dry_run: bool, as_json: bool) -> None:
    """Run trials on the tasks of ENVIRONMENT. The same command again does only what is missing."""

    async def main(stop: asyncio.Event) -> int:
        async with App.make(sandbox=sandbox, say=say, follow=follow, sweep=sweep) as app:
            if dry_run:
                print_estimate(await until(stop, estimate_all(app, sweep)), as_json=as_json)
                return 0
            with Bars() as bars:
                result = await run_sweep(app, sweep, Watch(bars.planned, bars.seen, stop))
        print_result(result, as_json=as_json)
        return exit_code(result, stopped=stop.is_set())

    sys.exit(run_async(main))


def print_result(result: SweepResult, *, as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        broken = any(row.failed or row.missing > row.certain for row in result.agents.values())
        columns = [("agent", False), ("scored", True), *([("failed", False)] if broken else [])]
        columns += [("mean reward", False), ("solved", False), ("tokens", True)]
        shown = table(None, [*columns, ("cost", True)], whole=("mean reward", "solved"))
        for agent, row in result.agents.items():
            cells = result_cells(agent, row)
            shown.add_row(
                *(cell(text) for name, text in cells.items() if broken or name != "failed")
            )
        console().print(shown)
        for agent, row in result.agents.items():
            for seat, spent in row.apart.items():
                said = (
                    f"{spent.input}/{spent.output} tokens in/out, cost {usd_text(spent.cost_usd)}"
                )
                say(f"{agent}: beside it, {seat} spent {said}")
        click.echo(f"sweep: {result.sweep}")
        only = " --outcome failed" if any(row.failed for row in result.agents.values()) else ""
        say(f"trials: `envwright trial list --sweep {result.sweep}{only}`")
        for agent, row in result.agents.items():
            if row.certain:
                say(f"{agent}: {row.certain} trials were left out: their verdict was certain")
    # A provider that refused is named at the end, once.
    for words, count in ({} if result.closed else result.why).items():
        say(f"failed, {count} of them: {words}")
    for failure in result.failures:
        say(f"error: a bug in envwright: {failure}")


def result_cells(agent: str, row: AgentResult) -> dict[str, str]:
    failed = ", ".join(f"{count} {cause}" for cause, count in row.failed.items()) or "0"
    if row.missing > row.certain:
        failed += f", {row.missing - row.certain} not run"
    mean = "-" if row.mean_reward is None else f"{row.mean_reward:.3f}"
    return {
        "agent": f"{agent} (baseline)" if row.baseline else agent,
        "scored": f"{row.scored}/{row.trials}",
        "failed": failed,
        "mean reward": f"{mean} {interval_text(row.mean_interval)}",
        "solved": f"{row.solved}/{row.scored} {interval_text(row.solved_interval)}",
        "tokens": f"{row.tokens.input}/{row.tokens.output}",
        "cost": usd_text(row.cost_usd),
    }


def exit_code(result: SweepResult, *, stopped: bool) -> int:
    rows = result.agents.values()
    if stopped:
        say("stopped: what is finished is kept; the same command does the rest")
        return EXIT_INTERRUPTED
    if result.failures:
        return EXIT_OURS
    for queue, words in result.closed.items():
        say(f"error: {queue} was stopped: {words}")
    if any(is_refused(row, result) for row in rows):
        return EXIT_USAGE
    if any(row.missing > row.certain for row in rows):
        return EXIT_INCOMPLETE
    return EXIT_FINDINGS if any(row.failed for row in rows) else 0


def is_refused(row: AgentResult, result: SweepResult) -> bool:
    """Whether the agent's provider refused its first call."""
    return row.queue in result.closed and Cause.PROVIDER in row.failed and row.scored == 0


def print_estimate(estimate: Estimate, *, as_json: bool) -> None:
    if as_json:
        print_json(estimate)
        return
    shown = table(
        None,
        [
            ("agent", False),
            ("trials", True),
            ("tokens", True),
            ("cost", True),
            ("basis", False),
        ],
    )
    for agent, row in estimate.agents.items():
        tokens = f"{row.input_tokens}/{row.output_tokens}"
        cells = [agent, str(row.trials), tokens, usd_text(row.cost_usd), row.basis]
        shown.add_row(*(cell(text) for text in cells))
    console().print(shown)
    done = f" ({estimate.scored} scored already)" if estimate.scored else ""
    click.echo(f"trials: {estimate.trials}{done}")
    click.echo(f"cost: {usd_text(estimate.cost_usd)}")
    if estimate.apart:
        say(f"not estimated: what {', '.join(estimate.apart)} will cost beside the agents")
