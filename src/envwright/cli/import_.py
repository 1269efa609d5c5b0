"""`envwright import`: rollouts that vf-eval wrote become trials."""

import asyncio
import sys
from pathlib import Path

import click

from envwright.cli.output import print_json, say
from envwright.cli.shared import json_option, run_async, until


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@json_option
def import_(paths: tuple[Path, ...], as_json: bool) -> None:
    """Keep the rollouts of vf-eval folders (with a traces.jsonl) as trials; each only once."""
    from envwright.app import App
    from envwright.cli import EXIT_INCOMPLETE
    from envwright.work.importing import import_rollouts

    async def main(stop: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            result = await until(stop, import_rollouts(paths, app.store, say))
        if as_json:
            print_json(result)
        else:
            failed = ", ".join(f"{count} {cause}" for cause, count in result.failed.items())
            left_out = result.left_out.model_dump()
            for name, value in {
                "files": result.files,
                "episodes": result.episodes,
                "imported": f"{result.imported} ({result.known} were there already)",
                "scored": f"{result.scored}/{result.imported}",
                "failed": failed or "0",
                **{f"left out, {kind.replace('_', ' ')}": n for kind, n in left_out.items() if n},
            }.items():
                click.echo(f"{name}: {value}")
        return EXIT_INCOMPLETE if result.is_incomplete else 0

    sys.exit(run_async(main))
