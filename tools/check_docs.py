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


def problems() -> Iterator[str]:
    reference = (ROOT / "docs" / "reference.md").read_text()
    context = click.Context(envwright)
    for path, command in commands(envwright, "envwright", context):
        if f"`{path}" not in reference:
            yield f"docs/reference.md does not describe `{path}`"
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and f"`{option}" not in reference:
                    yield f"docs/reference.md does not describe {option} of `{path}`"
    for table, field in FileTables.model_fields.items():
        annotation = field.annotation
        names = getattr(annotation, "model_fields", None)
        if names is None:
            names = getattr(annotation.__args__[1], "model_fields", {})  # type: ignore[union-attr]
        if f"[{table}" not in reference:
            yield f"docs/reference.md does not describe the table [{table}]"
        for name in names:
            if not re.search(rf"\b{name}\b", reference):
                yield f"docs/reference.md does not describe {table}.{name}"
    rules = {
        rule
        for path in (ROOT / "src").rglob("*.py")
        for rule in re.findall(r'"(EW\d{3})"', path.read_text())
    }
    yield from (
        f"docs/reference.md does not describe {rule}"
        for rule in sorted(rules)
        if rule not in reference
    )
    readme = (ROOT / "README.md").read_text().splitlines()
    if len(readme) > README_LINES:
        yield f"README.md has {len(readme)} lines, over {README_LINES}"
    for noun in COMMANDS:
        if not any(f"envwright {noun}" in line for line in readme):
            yield f"README.md does not name `envwright {noun}`"


if __name__ == "__main__":
    found = list(problems())
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    sys.exit(1 if found else 0)
