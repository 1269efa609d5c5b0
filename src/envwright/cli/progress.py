"""What is going on while a person waits: a spinner on a terminal, elsewhere a line now and then."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.text import Text

from envwright.cli.output import cell, say, short, talk_console
from envwright.host import Show

SAY_EVERY_SECONDS = 15.0


@contextmanager
def follow(what: str) -> Generator[Show]:
    """Show that `what` is going on, for how long, and the last line of what it says."""
    console = talk_console()
    begun = time.monotonic()
    if not console.is_terminal:
        yield now_and_then(what, begun)
        return
    with console.status(cell(what)) as status:

        def show(line: str) -> None:
            status.update(words(what, line, begun))

        yield show


def now_and_then(what: str, begun: float) -> Show:
    said_at = begun

    def show(line: str) -> None:
        nonlocal said_at
        if time.monotonic() - said_at >= SAY_EVERY_SECONDS:
            said_at = time.monotonic()
            say(words(what, line, begun).plain)

    return show


def words(what: str, line: str, begun: float) -> Text:
    said = f": {short(line)}" if line else ""
    return cell(f"{what}, {time.monotonic() - begun:.0f} s{said}")
