"""`envwright worker`: work on what is queued."""

import asyncio
import sys

import click

from envwright.app import App
from envwright.app import sweep as sweeping
from envwright.cli import EXIT_INTERRUPTED
from envwright.cli.output import say
from envwright.cli.progress import follow
from envwright.cli.shared import run_async, sandbox_option


@click.command()
@click.option(
    "--slots",
    type=click.IntRange(1),
    default=sweeping.SLOTS,
    show_default=True,
    help="Trials at once here, of all queues together.",
)
@click.option("--drain", is_flag=True, help="End when nothing is left to do.")
@sandbox_option
def worker(slots: int, drain: bool, sandbox: str) -> None:
    """Work on what is queued, beside other workers. Ctrl-C gives back what it runs."""

    async def main(stop: asyncio.Event) -> int:
        async with App.make(sandbox=sandbox, say=say, follow=follow) as app:
            say(await sweeping.introduce(app, slots))
            await sweeping.work(app, stop, slots=slots, drain=drain)
        if stop.is_set():
            say("stopped: what ran here was given back")
            return EXIT_INTERRUPTED
        say("nothing is left to do")
        return 0

    sys.exit(run_async(main))
