"""Options and plumbing that several commands share."""

import asyncio
import functools
import json
import math
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import click
import uvloop

from envwright.errors import Interrupted, UsageError

T = TypeVar("T")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(["bubblewrap", "none"]),
    default="bubblewrap",
    show_default=True,
    help="Where environment code runs; `none` gives it your files.",
)
judge_option = click.option(
    "--judge",
    metavar="MODEL",
    help="Whom environment code may ask; plays seats that are no players.",
)
arg_option = click.option(
    "--arg",
    "args",
    multiple=True,
    metavar="NAME=VALUE",
    help="An argument of the environment. Repeatable.",
)
venv_option = click.option(
    "--venv",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="A venv of yours to run it in; a bare name is then what is installed there.",
)


split_option = click.option("--split", metavar="NAME", help="Short for --arg split=NAME.")


def environment_options(command: Callable[..., None]) -> Callable[..., None]:
    """`--arg`, `--split`, `--venv`, `--sandbox`; a split reaches the command as an argument."""

    @functools.wraps(command)
    def with_split(*, args: tuple[str, ...], split: str | None, **given: Any) -> None:
        command(args=args if split is None else (*args, f"split={split}"), **given)

    return sandbox_option(venv_option(arg_option(split_option(with_split))))


def finite_or_text(text: str) -> float | str:
    return number if math.isfinite(number := float(text)) else text


def parse_args(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`name=value` pairs; a value that is JSON is taken as JSON, else as text."""
    parsed: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UsageError(f"--arg {pair!r} is not NAME=VALUE", hint="write --arg split=dev")
        if name in parsed:
            raise UsageError(f"argument {name!r} is given twice", hint="leave one of them out")
        try:
            parsed[name] = json.loads(value, parse_constant=str, parse_float=finite_or_text)
        except ValueError:
            parsed[name] = value
    return parsed


def parse_pairs(pairs: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """`name=value` pairs of text."""
    parsed: dict[str, str] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        if not name or not value:
            raise UsageError(f"{option} {pair!r} is not {form}", hint=f"write {option} {form}")
        parsed[name] = value
    return parsed


def run_async(main: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> T:
    """Run a command's coroutine; the first Ctrl-C sets the event, the second cancels."""

    async def supervised() -> T:
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        task = loop.create_task(main(stop))

        def interrupted() -> None:
            if stop.is_set():
                task.cancel()
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupted)
        stopped = loop.create_task(stop.wait())
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            # It has the event and a few seconds to end in order.
            done, _ = await asyncio.wait({task}, timeout=10)
            if not done:
                task.cancel()
        stopped.cancel()
        try:
            return await task
        except asyncio.CancelledError as cancelled:
            raise Interrupted("interrupted") from cancelled

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(supervised())


async def until(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """The work's result, unless the user stops it first."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        # Not KeyboardInterrupt: raised in a task, that would end the loop under everybody.
        raise Interrupted("interrupted")
    finally:
        stopped.cancel()
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
