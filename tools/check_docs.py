"""Fails when a command, option, setting or finding rule is undocumented, or the README too long."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from envwright.cli import COMMANDS, envwright
from envwright.settings import FileTables

ROOT = Path(__file__).resolve().parent.parent
README_LINES = 120


def commands(
    command: click.Command, path: str, context: click.Context
) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from commands(found, f"{path} {name}", context)
    else:
        yield path, command


def undocumented_commands(reference: str) -> Iterator[str]:
    for path, command in commands(envwright, "envwright", click.Context(envwright)):
        if f"`{path}" not in reference:
            yield f"docs/reference.md does not describe `{path}`"
        for option in (option for parameter in command.params for option in parameter.opts):
            if option.startswith("--") and f"`{option}" not in reference:
                yield f"docs/reference.md does not describe {option} of `{path}`"


def undocumented_settings(reference: str) -> Iterator[str]:
    for table, field in FileTables.model_fields.items():
        record = field.annotation if hasattr(field.annotation, "model_fields") else None
        record = record or field.annotation.__args__[1]  # type: ignore[union-attr]
        if f"[{table}" not in reference:
            yield f"docs/reference.md does not describe the table [{table}]"
        for name in record.model_fields:
            if not re.search(rf"`{name}`", reference):
                yield f"docs/reference.md does not describe {table}.{name}"


def undocumented_rules(reference: str) -> Iterator[str]:
    sources = (path.read_text() for path in (ROOT / "src").rglob("*.py"))
    rules = {rule for source in sources for rule in re.findall(r'"(EW\d{3})"', source)}
    for rule in sorted(rules):
        if rule not in reference:
            yield f"docs/reference.md does not describe {rule}"


def readme_faults() -> Iterator[str]:
    lines = (ROOT / "README.md").read_text().splitlines()
    if len(lines) > README_LINES:
        yield f"README.md has {len(lines)} lines, over {README_LINES}"
    for noun in COMMANDS:
        if not any(f"envwright {noun}" in line for line in lines):
            yield f"README.md does not name `envwright {noun}`"


def problems() -> Iterator[str]:
    reference = (ROOT / "docs" / "reference.md").read_text()
    yield from undocumented_commands(reference)
    yield from undocumented_settings(reference)
    yield from undocumented_rules(reference)
    yield from readme_faults()


if __name__ == "__main__":
    found = list(problems())
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    sys.exit(1 if found else 0)
