"""A text that a regular expression matches, and what it wants around each of its groups.

Parsed, never run.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import takewhile
from typing import Any

from envwright.probe.source.pattern import sre

LONGEST = 200
OF_CATEGORY = {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}
BROKEN = (re.error, RecursionError, OverflowError, ValueError)


class Role(Enum):
    WORDS = auto()
    BLANK = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Blank:
    """A group of a pattern: a place that is to be filled in."""

    before: str
    """The words and signs that stand right before it."""
    sample: str
    """Something that fits in."""
    behind: str
    all_before: str
    """A text that the pattern matches from its beginning up to here."""
    all_behind: str


def matched_by(pattern: str) -> str:
    """A text that the expression matches; the pattern itself where it is none."""
    if not re.search(r"[\\\[(*+?{|^$.]", pattern):
        return pattern
    try:
        return "".join(pieces(sre.parse(pattern)))
    except BROKEN:
        return pattern


def blanks_of(pattern: str) -> list[Blank]:
    """Its groups, with what it says itself right beside each; what is optional is left out."""
    try:
        laid = [*laid_out(sre.parse(pattern))]
    except BROKEN:
        return []
    return [
        Blank(
            before="".join(reversed([*own_words(reversed(laid[:at]))])),
            sample=text,
            behind="".join(own_words(laid[at + 1 :])),
            all_before="".join(each for each, _ in laid[:at]),
            all_behind="".join(each for each, _ in laid[at + 1 :]),
        )
        for at, (text, role) in enumerate(laid)
        if role is Role.BLANK
    ]


def own_words(laid: Iterable[tuple[str, Role]]) -> Iterator[str]:
    """Up to the next thing that can be more than one text."""
    return (text for text, _ in takewhile(lambda each: each[1] is Role.WORDS, laid))


def laid_out(parsed: Sequence[tuple[Any, Any]]) -> Iterator[tuple[str, Role]]:
    """Piece by piece."""
    for kind, value in parsed:
        text = "".join(pieces([(kind, value)]))
        match str(kind):
            case "AT" | "ASSERT" | "ASSERT_NOT":
                pass
            case "LITERAL":
                yield text, Role.WORDS
            case "IN" if all(str(sign) == "LITERAL" for sign, _ in value):
                yield text, Role.WORDS
            case "SUBPATTERN" if value[0] is not None:
                yield text, Role.BLANK
            case "SUBPATTERN":
                yield from laid_out(value[-1])
            case "BRANCH":
                yield from laid_out(value[1][0])
            case _ if text == " ":
                yield text, Role.WORDS
            case "MAX_REPEAT" | "MIN_REPEAT" if value[0] == 0:
                # An optional group is a place all the same.
                yield from (each for each in laid_out(value[2]) if each[1] is Role.BLANK)
            case _:
                yield text, Role.OTHER


def pieces(parsed: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    for kind, value in parsed:
        match str(kind):
            case "LITERAL":
                yield chr(value)
            case "NOT_LITERAL":
                yield "b" if value == ord("a") else "a"
            case "ANY":
                yield "a"
            case "IN":
                yield one_of(value)
            case "BRANCH":
                yield from pieces(value[1][0])
            case "SUBPATTERN":
                yield from pieces(value[-1])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                times = max(least, min(int(most), 1))
                text = "".join(pieces(inner))[:LONGEST]
                yield (text * min(times, LONGEST))[:LONGEST]
            case "ATOMIC_GROUP":
                yield from pieces(value)
            case _:
                pass


def one_of(signs: Sequence[tuple[Any, Any]]) -> str:
    for kind, value in signs:
        match str(kind):
            case "NEGATE":
                return "a"
            case "LITERAL":
                return chr(value)
            case "RANGE":
                return chr(value[0])
            case "CATEGORY":
                return OF_CATEGORY.get(str(value), "-")
            case _:
                pass
    return ""
