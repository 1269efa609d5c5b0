"""A code of which a part is left open, and a copy of it that is whole.

`HLXU 482913-?` beside `HLXU4829137`: what the copy has in the gap's place was to be found.
Sentences with gaps are not looked at: to fill them from a text is to read it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

BETWEEN = r"[ ./-]?"
WORD = re.compile(r"[A-Za-z0-9]+")
GAP = re.compile(r"\[[?_ .]{0,8}\]|\(\?\)|<\?>|\?{1,8}|_{1,8}|[*□▢█]{1,8}|…")
BEFORE = re.compile(r"[A-Za-z0-9]+(?:[ ./-][A-Za-z0-9]+){0,5}[./-]?$")
AFTER = re.compile(r"[ ./-]?[A-Za-z0-9]+(?:[ ./-][A-Za-z0-9]+){0,5}")
NEAR = 40
"""Characters of a code on each side of its gap."""
FEWEST_SIGNS = 5
FEWEST_DIGITS = 3
MOST_GAPS = 4
LONGEST_FILLING = 12


@dataclass(frozen=True, slots=True)
class Gap:
    before: str
    after: str
    sign: str
    """What sets the gap apart from what is before it."""


def filled_elsewhere(text: str) -> list[str]:
    """What stands in the place of a code's gap where the text holds the code once more."""
    gaps = islice(gaps_in(text), MOST_GAPS)
    return [said for gap in gaps if (said := filling(text, gap)) is not None]


def gaps_in(text: str) -> Iterator[Gap]:
    for found in GAP.finditer(text):
        begun = BEFORE.search(text[max(0, found.start() - NEAR) : found.start()])
        goes_on = AFTER.match(text[found.end() : found.end() + NEAR])
        before, after = begun[0] if begun else "", goes_on[0] if goes_on else ""
        sign = before[-1:] if before[-1:] in tuple("./-") else ""
        # A question mark that follows a word may end a question.
        if found[0] != "?" or sign or after[:1].isalnum():
            gap = Gap(before, after, sign)
            if next(around(gap), None) is not None:
                yield gap


def filling(text: str, gap: Gap) -> str | None:
    """Of the one copy; of several codes that look alike one is to be chosen, and that is a task."""
    sign = f"{re.escape(gap.sign)}?" if gap.sign else BETWEEN.replace(" ", "")
    for before, after in around(gap):
        copy = re.compile(
            rf"(?<![A-Za-z0-9]){BETWEEN.join(before)}{sign if before else ''}"
            rf"(?P<said>[A-Za-z0-9]{{1,{LONGEST_FILLING}}}){BETWEEN if after else ''}"
            rf"{BETWEEN.join(after)}(?![A-Za-z0-9])",
            re.I,
        )
        said = {each["said"] for each in copy.finditer(text)}
        if said:
            whole = f"{before}{min(said)}{after}"
            return said.pop() if len(said) == 1 and not others_like(text, whole) else None
    return None


def around(gap: Gap) -> Iterator[tuple[str, str]]:
    """What of the code is known, before and behind its gap; as much as may be first."""
    before, after = WORD.findall(gap.before), WORD.findall(gap.after)
    for first in range(len(before) + 1):
        for last in range(len(after), -1, -1):
            known = "".join(before[first:]), "".join(after[:last])
            signs = "".join(known)
            digits = sum(sign.isdigit() for sign in signs)
            if len(signs) >= FEWEST_SIGNS and digits >= FEWEST_DIGITS:
                yield known


def others_like(text: str, whole: str) -> bool:
    """Whether the text holds other codes of the same shape."""
    shape = "".join("[0-9]" if s.isdigit() else "[A-Za-z]" for s in whole)
    alike = re.findall(rf"(?<![A-Za-z0-9]){shape}(?![A-Za-z0-9])", text)
    return bool({each.lower() for each in alike} - {whole.lower()})
