"""`envwright scorecard`: check one that anyone may have written."""

import sys
from pathlib import Path

import click

from envwright.audit.validate import NoScorecard, problems_of, read_card
from envwright.cli import EXIT_FINDINGS
from envwright.cli.output import clean, print_json
from envwright.cli.shared import json_option
from envwright.errors import UsageError


@click.group()
def scorecard() -> None:
    """Scorecards: check."""


@scorecard.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def check(file: Path, as_json: bool) -> None:
    """Whether FILE is a scorecard that holds together; what does not is named, line by line."""
    try:
        card = read_card(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}", hint="check the path") from error
    except NoScorecard as error:
        raise UsageError(
            f"{file} is no scorecard: {error}", hint="see `envwright audit`"
        ) from error
    problems = problems_of(card)
    if as_json:
        print_json({"sound": not problems, "problems": [*problems]})
    else:
        for problem in problems or ["ok"]:
            click.echo(clean(" ".join(problem.split())))
    sys.exit(EXIT_FINDINGS if problems else 0)
