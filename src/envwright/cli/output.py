"""What commands print: data on stdout, talk on stderr, hostile text made harmless.

Environment, agent and trace text may hold terminal escapes and markup; `clean` shows
control characters instead of sending them.
"""

import json
import sys
from collections.abc import Sequence

import click
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from envwright.stats import Interval
from envwright.text import clean


def say(text: str) -> None:
    click.echo(clean(text), err=True)


def console() -> Console:
    """On a terminal as wide as it is; elsewhere wide enough that no row is folded."""
    width = None if sys.stdout.isatty() else 200
    return Console(file=sys.stdout, highlight=False, width=width)


def talk_console() -> Console:
    return Console(file=sys.stderr, highlight=False)


def print_json(value: BaseModel | dict[str, object] | list[object]) -> None:
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    click.echo(json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=2))


def print_json_line(value: BaseModel | dict[str, object]) -> None:
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    click.echo(json.dumps(plain, ensure_ascii=True, allow_nan=False))


def table(
    title: str | None, columns: Sequence[tuple[str, bool]], whole: Sequence[str] = ()
) -> Table:
    """An empty table; a column is its name and whether it holds numbers.

    On a narrow terminal words are folded; numbers and the `whole` columns are not.
    """
    made = Table(title=title, title_justify="left", show_edge=False, pad_edge=False, box=None)
    for name, number in columns:
        justify = "right" if number else "left"
        made.add_column(name, justify=justify, overflow="fold", no_wrap=number or name in whole)
    return made


def cell(text: str) -> Text:
    """Text as it is: no markup, no escapes."""
    return Text(clean(text))


def interval_text(interval: Interval | None) -> str:
    return "" if interval is None else f"[{interval[0]:.2f}, {interval[1]:.2f}]"


def usd_text(cost: float | None) -> str:
    if cost is None:
        return "unknown"
    return "0" if cost == 0 else f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def short(text: str, width: int = 60) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= width else folded[: width - 1] + "…"
