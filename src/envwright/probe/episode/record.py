"""A record that a tool hands out, and whether it holds what the agent is to work out.

Looking an answer up is a task like any other. It is none where the request says how the
answer follows from the record's other fields and the record has it ready.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any, cast

from envwright.probe.case import Case
from envwright.probe.data.text import answer_form
from envwright.probe.episode.tool import Called, parsed
from envwright.probe.gold import request_of

WORKS = re.compile(
    r"\b(decid|decision|classif|categori[sz]|triage|judg|assess|diagnos|determin|grad(e|ing)\b"
    r"|rout(e|ing)\b|assign|appl(y|ying) (the|these|this|our)|work(ed)? out|calculat|comput"
    r"|add(ing)? (up|together)|sum up|total up|deriv|infer|estimat|reconcil|evaluat|verif"
    r"|check whether|belongs?\b)",
    re.I,
)
LOOKED_UP = re.compile(
    r"\b(look(ed|s|ing)? (it |them |that )?up|on file|recorded|according to)\b", re.I
)
LINE = re.compile(r"^\s*[-*]?\s*\**([A-Za-z_][\w ]{0,30}?)\**\s*[:=]\s*(\S.*?)\s*$", re.M)
REPR = re.compile(r"\b([a-z_]\w*)=(?:'([^']*)'|\"([^\"]*)\"|(-?[\d.]+))")
NARRATES = 5
"""Words: a field of so many is a text to be read."""
LONGEST = 20_000

Fields = list[tuple[str, str]]


def fields_of(text: str) -> Fields:
    """The fields of the one record in a text, by name; none when it holds none, or several."""
    if len(text) > LONGEST:
        return []
    value = parsed(text) or literal(text)
    if isinstance(value, list) and len(cast("list[Any]", value)) == 1:
        value = cast("list[Any]", value)[0]
    if isinstance(value, dict):
        return list(scalars(cast("dict[str, Any]", value)))
    if value:
        return []
    spelled = [(name, a or b or c) for name, a, b, c in REPR.findall(text)]
    told = spelled or [(name.strip(), said) for name, said in LINE.findall(text)]
    names = [name.lower() for name, _ in told]
    return told if len(told) > 1 and len(set(names)) == len(names) else []


def literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip()) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def scalars(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from scalars(cast("dict[str, Any]", value))
        elif isinstance(value, list):
            yield str(name), ""
        elif value is not None:
            yield str(name), str(value)


def chosen(case: Case, call: Called) -> str | None:
    """Where a record that was asked for holds what the agent is to work out from the rest."""
    gold, request = (case.gold or "").strip(), request_of(case.task)
    given = {str(value) for value in call.arguments.values()}
    if len(gold) < 2 or gold in given or not any(has_word(value, request) for value in given):
        return None
    fields = fields_of(call.answer)
    keys = [name for name, value in fields if answer_form(value) == answer_form(gold)]
    others = [(name, value) for name, value in fields if name not in keys and value not in given]
    if not keys or not others:
        return None
    basis = sum(is_named(name, request) or len(v.split()) >= NARRATES for name, v in others)
    works = bool(WORKS.search(request))
    if LOOKED_UP.search(request) and not works:
        return None
    # A choice is listed beforehand; what is not listed is worked out only if that is said.
    enough = basis >= 1 and (works or basis >= 2) if has_word(gold, request) else basis and works
    return f"{keys[0]}: {gold}" if enough else None


def is_named(field: str, request: str) -> bool:
    """Whether the request speaks of a field, by one of its words in one or in many."""
    parts = re.findall(r"[a-z]{4,}", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field).lower())
    stems = (part.rstrip("s") for part in parts)
    return any(re.search(rf"\b{re.escape(stem)}(s|es|d|ed)?\b", request, re.I) for stem in stems)


def has_word(word: str, text: str) -> bool:
    return bool(word) and bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))
