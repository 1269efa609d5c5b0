"""A sweep's progress on stderr: a bar per agent on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Mapping

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from envwright.cli.output import clean, say, talk_console
from envwright.cli.progress import SAY_EVERY_SECONDS
from envwright.store.queue import Parked
from envwright.store.status import Counts
from envwright.work.result import titles

TOLD_FROM_SECONDS = 3.0


class Bars:
    def __init__(self) -> None:
        console = talk_console()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._bars: dict[tuple[str, str], TaskID] = {}
        self._silent = not console.is_terminal
        self._said_at = time.monotonic()
        self._told: dict[str, str] = {}

    def __enter__(self) -> "Bars":
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def planned(self, sweep: str, trials: int, scored: int) -> None:
        say(f"sweep {sweep}: {trials} trials, {scored} scored already")
        # Not before: until here something else may be shown on the terminal.
        self._progress.start()
        self._said_at = time.monotonic()

    def seen(self, counts: Mapping[tuple[str, str], Counts], parked: Mapping[str, Parked]) -> None:
        self._tell_parked(parked)
        called = titles(counts)
        for name, each in counts.items():
            if name not in self._bars:
                shown = clean(called[name]).replace("[", "\\[")
                self._bars[name] = self._progress.add_task(shown, total=each.total, said="")
            done = each.total - each.open
            self._progress.update(self._bars[name], completed=done, said=words(each))
        left = sum(each.open for each in counts.values())
        if self._silent and left and time.monotonic() - self._said_at > SAY_EVERY_SECONDS:
            self._said_at = time.monotonic()
            away = sum(each.parked for each in counts.values())
            say(f"{left} trials left" + (f", {away} of them parked" if away else ""))

    def _tell_parked(self, parked: Mapping[str, Parked]) -> None:
        """A queue that is parked for long is said once, and again when it is for another reason."""
        for name, each in parked.items():
            if each.seconds >= TOLD_FROM_SECONDS and self._told.get(name) != each.why:
                self._told[name] = each.why
                say(f"queue {name} is parked for {each.seconds:.0f} s: {each.why}")


def words(counts: Counts) -> str:
    """Besides how many are done."""
    failed = sum(counts.failed.values())
    said = {"failed": failed, "parked": counts.parked, "solved": counts.solved}
    return ", ".join(f"{count} {word}" for word, count in said.items() if count)
