"""`envwright demo`: the tour. Offline, with a real small model, in a few minutes."""

import asyncio
import sys
from pathlib import Path

import click

from envwright.app import App, RunOptions
from envwright.app.sweep import Watch, run
from envwright.cli.bars import Bars
from envwright.cli.output import say
from envwright.cli.progress import follow
from envwright.cli.run import exit_code, print_result
from envwright.cli.shared import run_async
from envwright.cli.trial import show_latest
from envwright.errors import UsageError
from envwright.model.local import LOCAL_NAME
from envwright.options import SweepOptions


@click.command()
@click.argument("environment", default="examples/sums")
@click.option(
    "-n", "tasks", type=click.IntRange(1), default=20, show_default=True, help="How many tasks."
)
@click.option(
    "-r",
    "--trials",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Per task and agent.",
)
def demo(environment: str, tasks: int, trials: int) -> None:
    """The tour: the example environment on a small model, `oracle` and `noop`."""
    if not Path(environment).is_dir():
        raise UsageError(
            f"{environment!r} is not here",
            hint="run the demo in a checkout, or name an environment",
        )
    options = RunOptions(
        environment=environment,
        agents=(f"chat:{LOCAL_NAME}", "oracle", "noop"),
        tasks=tasks,
        trials=trials,
    )

    async def main(stop: asyncio.Event) -> int:
        say(f"1. {environment} in a sandbox, tried by {LOCAL_NAME}, by `oracle` and by `noop`")
        async with App.make(say=say, follow=follow) as app:
            with Bars() as bars:
                sweep = SweepOptions(runs=(options,))
                result = await run(app, sweep, Watch(bars.planned, bars.seen, stop))
        print_result(result, as_json=False)
        code = exit_code(result, stopped=stop.is_set())
        if not stop.is_set():
            say(f"\n2. one trial of {LOCAL_NAME}, whole:")
            show_latest(result.sweep, f"chat:{LOCAL_NAME}")
            say("\nnext: envwright env inspect examples/notes; envwright run --help")
        return code

    sys.exit(run_async(main))
