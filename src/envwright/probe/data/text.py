"""How tasks' texts are compared: what counts as the same question, and as the same answer."""

import re
from collections.abc import Iterator
from typing import Any, cast

from envwright.environment import Task
from envwright.finding import TaskCitation
from envwright.probe.case import Case
from envwright.probe.found import quote
from envwright.record import items

SPACE = re.compile(r"\s+")
CLOSING = re.compile(r"[\s.,;:!?]+$")
LOOSE = re.compile(r"(?<![0-9])[.,;:!?'\"]+(?=\s|$)")


def folded(text: str) -> str:
    """But for white space and what closes it: nothing else is known to be without meaning."""
    return CLOSING.sub("", SPACE.sub(" ", text).strip())


def normalised(text: str) -> str:
    """But for case, too, and punctuation at the end of words; signs between numbers stay."""
    return CLOSING.sub("", SPACE.sub(" ", LOOSE.sub("", text.casefold())).strip())


def answer_form(text: str) -> str:
    """Two golds of the same form are the same answer."""
    bare = SPACE.sub(" ", text.strip().casefold()).rstrip(".!")
    number = re.fullmatch(r"[-+]?[\d,]*\.?\d+", bare)
    if number:
        try:
            return f"{float(bare.replace(',', '')):.12g}"
        except ValueError:
            return bare
    return bare


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def holds(text: str, phrase: str) -> bool:
    """Whether the phrase stands in the text as words of its own, and not as a piece of one."""
    found = re.search(rf"(?<![^\W_]){re.escape(phrase.casefold())}(?![^\W_])", text.casefold())
    return bool(phrase) and found is not None


def asked(task: Task) -> str:
    """All that the model is shown before it replies: the system prompt, then the prompt."""
    system = task.row.get("system_prompt")
    shown = [system] if isinstance(system, str) else []
    return "\n\n".join([*(s for s in shown if s not in task.prompt), task.prompt])


def cite(case: Case, field: str = "prompt") -> TaskCitation:
    text = case.task.prompt if field == "prompt" else str(case.task.row.get(field, case.gold))
    return TaskCitation(key=case.task.key, field=field, quote=quote(text) or "(empty)")


def spelled(value: Any) -> str:
    """A row's value as a gold is spelled: of several answers the first."""
    while several := items(value):
        value = several[0]
    return value if isinstance(value, str) else str(value)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of a row and of the tables in it, by dotted path."""
    if isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            inner = f"{path}.{name}" if path else name
            yield inner, each
            yield from leaves(each, inner)


def gold_field(cases: list[Case]) -> str | None:
    """The field of the rows that the golds are from; None when no field explains most."""
    known = [case for case in cases if case.gold is not None]
    votes: dict[str, int] = {}
    for case in known:
        for path, value in leaves(case.task.row):
            if not isinstance(value, dict) and spelled(value) == case.gold:
                votes[path] = votes.get(path, 0) + 1
    best = max(votes, key=lambda path: votes[path], default=None)
    return best if best is not None and 2 * votes[best] > len(known) else None


def dig(row: Any, path: str) -> Any:
    for part in path.split("."):
        row = cast("dict[str, Any]", row).get(part) if isinstance(row, dict) else None
    return row
