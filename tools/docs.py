"""Keeps docs/reference.md true: `tools/docs.py` writes its generated parts, `--check` compares.

Generated are the commands and their options, the settings, the keys of a sweep file, and
the rules of findings, each between two markers. It also holds the README to its length and
to naming every command.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import click
from pydantic import BaseModel

from envwright.cli import COMMANDS, envwright
from envwright.settings import FileTables
from envwright.sweep_file import Choice, SweepEnvironment, SweepTables

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference.md"
README_LINES = 120


def leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from leaves(found, f"{path} {name}")


def commands_text() -> str:
    parts: list[str] = []
    for path, command in leaves(envwright, "envwright"):
        context = click.Context(command, info_name=path)
        usage = " ".join(command.collect_usage_pieces(context))
        parts.append(f"### `{path}`\n\n`{path} {usage}`\n\n{(command.help or '').strip()}\n")
        options = [p for p in command.params if isinstance(p, click.Option)]
        rows = [f"| `{', '.join(option.opts)}` | {option_text(option)} |" for option in options]
        if rows:
            parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def option_text(option: click.Option) -> str:
    said = (option.help or "").strip()
    kinds = option.type
    if isinstance(kinds, click.Choice):
        said += f" One of {', '.join(str(choice) for choice in kinds.choices)}."
    if option.show_default and option.default is not None:
        said += f" Default: {option.default}."
    if option.multiple and "epeatable" not in said:
        said += " Repeatable."
    return said.replace("|", "\\|").strip()


def docstrings_of(record: type) -> dict[str, str]:
    """Field → the string literal beneath it, for a class and its bases of ours."""
    found: dict[str, str] = {}
    for cls in reversed(record.__mro__):
        if not cls.__module__.startswith("envwright"):
            continue
        source = Path(sys.modules[cls.__module__].__file__ or "").read_text()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
                found |= dict(field_docstrings(node))
    return found


def field_docstrings(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            yield field.target.id, " ".join(str(text.value.value).split())


def settings_text() -> str:
    parts: list[str] = []
    for table, field in FileTables.model_fields.items():
        annotation = field.annotation
        named = not hasattr(annotation, "model_fields")
        record = annotation.__args__[1] if named else annotation  # type: ignore[union-attr]
        heading = f"[{table}.NAME]" if named else f"[{table}]"
        meanings = docstrings_of(record)
        rows = [
            f"| `{name}` | {kind_text(each.annotation)} | {default_text(each.default)} "
            f"| {meanings.get(name, '')} |"
            for name, each in record.model_fields.items()
        ]
        lines = ["| key | type | default | meaning |", "|---|---|---|---|", *rows]
        parts.append(f"### `{heading}`\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def sweep_text() -> str:
    own = SweepEnvironment.model_fields.keys() - Choice.model_fields.keys()
    parts = [
        ("### Keys", SweepTables, SweepTables.model_fields.keys()),
        ("### `[[environments]]`", SweepEnvironment, own),
    ]
    return "\n".join(
        "\n".join([f"{heading}\n", "| key | meaning |", "|---|---|", *key_rows(record, keys)])
        + "\n"
        for heading, record, keys in parts
    )


def key_rows(record: type[BaseModel], keys: Collection[str]) -> list[str]:
    meanings = docstrings_of(record)
    return [
        f"| `{name}` | {meanings[name]} |"
        for name, field in record.model_fields.items()
        # A field of another's key is described there.
        if name in keys and field.validation_alias is None
    ]


def kind_text(annotation: object) -> str:
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    name = re.sub(r"(typing|pydantic\.types|envwright[\w.]*)\.", "", name)
    return name.replace(" | None", "").replace("|", "or")


def default_text(default: object) -> str:
    plain = isinstance(default, str | int | float)
    return f"`{default}`" if plain else ""


def rules_text() -> str:
    from envwright.trial.grade import NOT_A_NUMBER_RULE

    rows = [f"| {NOT_A_NUMBER_RULE} | a reward or metric returned NaN, infinity or no number |"]
    sources = (path.read_text() for path in (ROOT / "src").rglob("*.py"))
    used = {rule for source in sources for rule in re.findall(r'"(EW\d{3})"', source)}
    missing = sorted(rule for rule in used if not any(rule in row for row in rows))
    if missing:
        raise SystemExit(f"error: tools/docs.py does not describe {', '.join(missing)}")
    return "\n".join(["| rule | says |", "|---|---|", *rows]) + "\n"


PARTS = {
    "commands": commands_text,
    "settings": settings_text,
    "sweep": sweep_text,
    "rules": rules_text,
}


def render(text: str) -> str:
    for name, part in PARTS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        head, _, rest = text.partition(begin)
        _, found, tail = rest.partition(end)
        if not found:
            raise SystemExit(f"error: docs/reference.md lacks the markers of {name}")
        text = f"{head}{begin}\n\n{part()}\n{end}{tail}"
    return text


def faults(current: str) -> Iterator[str]:
    if render(current) != current:
        yield "docs/reference.md is out of date. hint: run .venv/bin/python tools/docs.py"
    lines = (ROOT / "README.md").read_text().splitlines()
    if len(lines) > README_LINES:
        yield f"README.md has {len(lines)} lines, over {README_LINES}"
    for noun in COMMANDS:
        if not any(f"envwright {noun}" in line for line in lines):
            yield f"README.md does not name `envwright {noun}`"


def main() -> int:
    current = REFERENCE.read_text()
    if "--check" not in sys.argv[1:]:
        REFERENCE.write_text(render(current))
        return 0
    found = list(faults(current))
    for fault in found:
        sys.stderr.write(f"error: {fault}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
