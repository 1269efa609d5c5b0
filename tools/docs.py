"""Keeps the docs true: `tools/docs.py` writes their generated parts, `--check` compares.

Generated are the commands and their options, the settings, the keys of a sweep file, the
rules of findings and what they cost, each between two markers. It also holds the README to
its length and to naming every command.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import click
from pydantic import BaseModel

from envwright.audit.points import PRICES
from envwright.cli import COMMANDS, envwright
from envwright.probe.rule import Check, Rule
from envwright.probe.rules import RULES
from envwright.settings import FileTables
from envwright.sweep_file import Choice, SweepEnvironment, SweepTables
from envwright.text import sentence
from envwright.trial.grade import NOT_A_NUMBER_RULE

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference.md"
DESIGN = ROOT / "docs" / "reward-design.md"
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


def all_rules() -> list[Rule]:
    """In the order of their ids; each that the source names must be among them."""
    known = sorted(RULES.values(), key=lambda rule: rule.id)
    sources = (path.read_text() for path in (ROOT / "src").rglob("*.py"))
    used = {rule for source in sources for rule in re.findall(r'"(EW\d{3})"', source)}
    if missing := sorted(used - RULES.keys() - {NOT_A_NUMBER_RULE}):
        raise SystemExit(f"error: envwright.probe.rules does not hold {', '.join(missing)}")
    return known


def rules_text() -> str:
    rows = [f"| {NOT_A_NUMBER_RULE} | | fail | A reward or metric returned NaN or no number. |"]
    rows += [
        f"| {rule.id} | [{rule.name}]({DESIGN.name}#{rule.name}) "
        f"| {rule.severity} | {line(rule.hit)} |"
        for rule in all_rules()
    ]
    return "\n".join(["| rule | name | at most | says |", "|---|---|---|---|", *rows]) + "\n"


def line(text: str) -> str:
    return sentence(text).replace("|", "\\|")


def design_text() -> str:
    """A heading for each name; what is tried and what is read may share one."""
    by_name: dict[str, list[Rule]] = {}
    for rule in all_rules():
        by_name.setdefault(rule.name, []).append(rule)
    parts: list[str] = []
    for check in Check:
        names = [name for name, rules in by_name.items() if rules[0].check is check]
        parts += [f"## {check}\n"] if names else []
        for name in names:
            parts += [f"### {name}\n", *map(rule_text, by_name[name])]
    return "\n".join(parts)


def rule_text(rule: Rule) -> str:
    kind = f", the defect *{rule.defect}*" if rule.defect not in ("", rule.name) else ""
    said = {
        "Tried": rule.tries,
        "A hit": rule.hit,
        "Why it matters": rule.why,
        "When it does not apply": rule.exempt,
    }
    rows = [f"- **{name}.** {line(text)}" for name, text in said.items() if text]
    return "\n".join([f"**{rule.id}**, at most `{rule.severity}`{kind}.\n", *rows]) + "\n"


def prices_text() -> str:
    rows = [
        f"| {severity} | {basis} | {price.first:g} | {price.further:g} |"
        for (severity, basis), price in PRICES.items()
    ]
    header = ["| severity | basis | first rule | each further |", "|---|---|---|---|"]
    return "\n".join([*header, *rows]) + "\n"


PARTS = {
    REFERENCE: {
        "commands": commands_text,
        "settings": settings_text,
        "sweep": sweep_text,
        "rules": rules_text,
    },
    DESIGN: {"prices": prices_text, "design": design_text},
}


def render(page: Path) -> str:
    text = page.read_text()
    for name, part in PARTS[page].items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        head, _, rest = text.partition(begin)
        _, found, tail = rest.partition(end)
        if not found:
            raise SystemExit(f"error: {page.name} lacks the markers of {name}")
        text = f"{head}{begin}\n\n{part()}\n{end}{tail}"
    return text


def faults() -> Iterator[str]:
    for page in PARTS:
        if render(page) != page.read_text():
            yield f"docs/{page.name} is out of date. hint: run .venv/bin/python tools/docs.py"
    headings = re.findall(r"^### (\S+)$", DESIGN.read_text(), re.MULTILINE)
    names = {rule.name for rule in all_rules()}
    for name in sorted(names.symmetric_difference(headings)):
        yield f"docs/{DESIGN.name}: {name} is not both a heading and the name of a rule"
    lines = (ROOT / "README.md").read_text().splitlines()
    if len(lines) > README_LINES:
        yield f"README.md has {len(lines)} lines, over {README_LINES}"
    for noun in COMMANDS:
        if not any(f"envwright {noun}" in line for line in lines):
            yield f"README.md does not name `envwright {noun}`"


def main() -> int:
    if "--check" not in sys.argv[1:]:
        for page in PARTS:
            page.write_text(render(page))
        return 0
    found = list(faults())
    for fault in found:
        sys.stderr.write(f"error: {fault}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
