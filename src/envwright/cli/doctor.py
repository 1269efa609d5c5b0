"""`envwright doctor`: launch every part and say what works; present is not working."""

import asyncio
import sys

import click

from envwright.cli.output import cell, console, print_json, say, table
from envwright.cli.shared import json_option, run_async, until


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Launch every part and say what works."""
    from envwright.app import App
    from envwright.work.health import examine

    async def main(stop: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            read = app.settings
            examination = examine(
                *(app.sandbox, read.home, read.cache, read.variables),
                *(read.database_url, read.blob_url),
            )
            parts = await until(stop, examination)
        if as_json:
            print_json({"parts": [part.model_dump(mode="json") for part in parts]})
        else:
            shown = table(None, [("part", False), ("state", False), ("what", False)])
            for part in parts:
                shown.add_row(part.name, str(part.state), cell(part.said))
            console().print(shown)
        return 1 if any(part.is_broken for part in parts) else 0

    sys.exit(run_async(main))
