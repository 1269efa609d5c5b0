"""Whether a regular expression can backtrack for ever: parsed, never run."""

import re
from collections.abc import Callable
from typing import Any

sre: Any = re._parser  # type: ignore[attr-defined]  # pyright: ignore
"""The standard library's own parser of patterns; it has no public name."""
MANY = 16
"""Rounds: from there on a repeat counts as endless."""


def is_slow(pattern: str, *, whole: bool) -> bool:
    """Whether a repeat of repeats can read one text in many ways and fail behind it."""
    try:
        parsed = list(sre.parse(pattern))
    except (re.error, RecursionError, OverflowError):
        return False
    return slow_in(parsed, can_fail=whole)


def slow_in(items: list[Any], *, can_fail: bool) -> bool:
    for place, (op, given) in enumerate(items):
        fails = can_fail or any(needs_something(each) for each in items[place + 1 :])
        inner = parts_of(op, given)
        endless = is_endless((op, given)) and fails
        if endless and is_ambiguous(inner[0]):
            return True
        if any(slow_in(part, can_fail=fails) for part in inner):
            return True
    return False


def parts_of(op: Any, given: Any) -> list[list[Any]]:
    """What stands inside of an item: a repeat's body, a group, the ways of a choice."""
    match str(op):
        case "MAX_REPEAT" | "MIN_REPEAT":
            return [list(given[2])]
        case "SUBPATTERN":
            return [list(given[-1])]
        case "BRANCH":
            return [list(each) for each in given[1]]
        case _:
            return []


def needs_something(item: Any) -> bool:
    """Whether what follows can refuse a text: an anchor, a sign, a repeat of one at least."""
    op, given = item
    name = str(op)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return int(given[0]) > 0 and any(needs_something(each) for each in given[2])
    if name == "SUBPATTERN":
        return any(needs_something(each) for each in given[-1])
    if name == "BRANCH":
        return all(any(needs_something(i) for i in each) for each in given[1])
    return name != "GROUPREF_EXISTS"


def is_ambiguous(body: list[Any]) -> bool:
    """Whether a run of one sign can be cut into rounds in many ways."""
    body = flat(body)
    for op, given in body:
        if str(op) == "BRANCH" and sum(not flat(list(each)) for each in given[1]) > 1:
            return True
    if len(body) == 1 and str(body[0][0]) == "BRANCH":
        ways = [flat(list(each)) for each in body[0][1][1]]
        single = [signs(way) for way in ways if len(way) == 1 and is_plain(way[0])]
        meet = any(single[i] & single[j] for i in range(len(single)) for j in range(i))
        return meet or any(is_ambiguous(way) for way in ways)
    return any(
        all(may_be_nothing(item) or (is_plain(item) and sign in signs([item])) for item in body)
        and any(is_endless(item) and is_plain(item) and sign in signs([item]) for item in body)
        for sign in SAMPLE
    )


def is_plain(item: Any) -> bool:
    """One sign, or a repeat of one."""
    op, given = item
    if str(op) in ("MAX_REPEAT", "MIN_REPEAT"):
        inner = flat(list(given[2]))
        return len(inner) == 1 and is_plain(inner[0])
    return str(op) in ("LITERAL", "NOT_LITERAL", "ANY", "IN")


def flat(body: list[Any]) -> list[Any]:
    result: list[Any] = []
    for op, given in body:
        if str(op) == "SUBPATTERN":
            result += flat(list(given[-1]))
        else:
            result.append((op, given))
    return result


def is_endless(item: Any) -> bool:
    op, given = item
    return str(op) in ("MAX_REPEAT", "MIN_REPEAT") and int(given[1]) >= MANY


def may_be_nothing(item: Any) -> bool:
    op, given = item
    if str(op) in ("MAX_REPEAT", "MIN_REPEAT"):
        return int(given[0]) == 0
    return str(op) in ("AT", "ASSERT_NOT")


SAMPLE = [chr(c) for c in (*range(9, 14), *range(32, 127), 0xE9, 0x4E00)]


def signs(items: list[Any]) -> set[str]:
    """The signs that it can begin with, among a sample of them; all when that is not known."""
    if not items:
        return set()
    op, given = items[0]
    name = str(op)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return signs(flat(list(given[2]))[:1])
    if name == "SUBPATTERN":
        return signs(flat(list(given[-1]))[:1])
    if name == "LITERAL":
        return {chr(given)}
    if name == "NOT_LITERAL":
        return set(SAMPLE) - {chr(given)}
    if name == "ANY":
        return set(SAMPLE) - {"\n"}
    if name == "IN":
        return of_class(given)
    if name == "BRANCH":
        return set[str]().union(*(signs(flat(list(each))[:1]) for each in given[1]))
    return set(SAMPLE)


def is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": is_word,
}


def of_class(given: Any) -> set[str]:
    found: set[str] = set()
    negated = False
    for op, value in given:
        name = str(op)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            found.add(chr(value))
        elif name == "RANGE":
            found |= {s for s in SAMPLE if value[0] <= ord(s) <= value[1]}
        elif name == "CATEGORY":
            said = str(value)
            test = CATEGORIES.get(said.replace("_NOT_", "_"))
            if test is not None:
                inside = {s for s in SAMPLE if test(s)}
                found |= set(SAMPLE) - inside if "_NOT_" in said else inside
    return set(SAMPLE) - found if negated else found
