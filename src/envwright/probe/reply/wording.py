"""How replies are made of a gold: its frame, its rivals, and the kinds of answer that it can be.

Replies are made from the task and the sample alone, so that the same audit tries the same.
"""

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import cast

from envwright.probe.case import Case, Sample

NUMBER = re.compile(r"[-+\u2212]?\$?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
PLACEHOLDER = frozenset(
    ("", "none", "null", "nan", "n/a", "na", "tbd", "todo", "unknown", "?", "-", "placeholder")
)
EDGES = " \t\r\n.,;:!?\"'`*_()[]{}<>$"

LONGEST_LIST = 2000
SENTENCE = re.compile(r"[^\W\d_]{2,}[.!?](?:\s+[A-Z]|$)")
"""The end of one, or of an abbreviation."""
WORDY = 3
"""Words between two commas, above which sentences are prose and no list."""
SHORT = 80
"""Characters, up to which a gold is an answer and not a text."""

IDLE = (
    "purple elephants whisper",
    "the weather was mild",
    "lorem ipsum dolor",
    "somewhere beyond tuesday",
)
"""Words about nothing: whatever is read from them is not there."""
THOUGHT = "<think>\nLet me look at the question with care before the reply.\n</think>\n"
LEAD = "After some thought, the answer is "
FILLER = (
    "There are many ways to look at a matter of this kind, and each of them has its merits. "
    "It helps to go slowly, to keep an open mind and to look at every side of it in turn. "
)


def plain(text: str) -> str:
    """The answer without an accident of its spelling: the same for what says the same."""
    text = " ".join(text.split()).strip(EDGES).casefold()
    number = number_of(text)
    return text if number is None else format(number.normalize(), "f")


def number_of(text: str) -> Decimal | None:
    text = text.strip()
    if len(text) > 40 or not NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text.replace(",", "").replace("$", "").replace("\u2212", "-"))
    except InvalidOperation:  # pragma: no cover - the pattern admits numerals alone
        return None


def frame(case: Case) -> tuple[str, str] | None:
    """What stands before and behind the gold where it earns most; None when it is not in there."""
    if case.gold is None or case.said is None or not case.gold.strip():
        return None
    gold = case.gold if case.gold in case.said else case.gold.strip()
    at = case.said.rfind(gold)
    return None if at < 0 else (case.said[:at], case.said[at + len(gold) :])


def framed(case: Case, text: str) -> str:
    """Another answer where the gold stands; bare when that place is not known."""
    before, behind = frame(case) or ("", "")
    return f"{before}{text}{behind}"


def is_answer(gold: str | None) -> bool:
    """Whether a gold is short and of one line, so that another answer can be made of it."""
    return gold is not None and 0 < len(gold.strip()) <= SHORT and "\n" not in gold.strip()


def is_gold(case: Case) -> bool:
    """Whether there is a gold to compare with; a placeholder is none."""
    return case.gold is not None and case.best is not None and plain(case.gold) not in PLACEHOLDER


def is_apart(text: str, gold: str) -> bool:
    """Whether neither holds the other: then a search for one does not find it in the other."""
    text, gold = plain(text), plain(gold)
    return text not in gold and gold not in text


def golden(sample: Sample, most: int) -> list[Case]:
    return some(sample, [case for case in sample.cases if is_gold(case)], most)


def answerable(sample: Sample, most: int) -> list[Case]:
    """Cases with a gold; where no case has one, all of them."""
    known = [case for case in sample.cases if is_gold(case)]
    return some(sample, known or ([] if sample.gold_from else sample.cases), most)


def rivals(sample: Sample, case: Case, count: int = 2) -> list[str]:
    """Golds of other tasks that are wrong here, from those that follow it on."""
    at = next(place for place, other in enumerate(sample.cases) if other is case)
    found: dict[str, str] = {}
    for other in (*sample.cases[at + 1 :], *sample.cases[:at]):
        if len(found) == count:
            break
        gold, own = other.gold, case.gold or ""
        if gold is not None and is_gold(other) and is_apart(gold, own):
            found.setdefault(plain(gold), gold.strip())
    return list(found.values())


EPISODES = 12
"""Cases, where a reply is a whole episode."""


def some(sample: Sample, cases: Sequence[Case], most: int) -> list[Case]:
    """At most so many of them, spread over all."""
    most = min(most, EPISODES) if sample.environment.episodic else most
    if len(cases) <= most:
        return list(cases)
    return [cases[place * len(cases) // most] for place in range(most)]


@dataclass(frozen=True, slots=True)
class Items:
    """A list as a gold writes it."""

    parts: list[str]
    between: str
    """Empty when it is JSON, or Python's own."""
    is_quoted: bool = False
    """Python's own, of texts."""

    def write(self, parts: Sequence[str]) -> str:
        if self.between:
            return self.between.join(parts)
        if self.is_quoted:
            return repr(list(parts))
        return json.dumps([part if number_of(part) is None else json.loads(part) for part in parts])


def listed(gold: str) -> Items | None:
    """Its items and what stands between them; None when it is no list."""
    text = gold.strip()
    if text.startswith("["):
        return listed_as_json(text) or listed_as_python(text)
    for mark in ("\n", ";", ","):
        parts = [part.strip() for part in text.split(mark)]
        if len(parts) >= 3 and all(parts) and number_of(text) is None and len(text) < LONGEST_LIST:
            if max(map(len, parts)) > SHORT or text[0] in "{(":
                return None
            if mark != "\n" and is_prose(text, parts):
                return None
            return Items(parts, {"\n": "\n", ";": "; ", ",": ", "}[mark])
    return None


def is_prose(text: str, parts: Sequence[str]) -> bool:
    words = sum(len(part.split()) for part in parts)
    return words > WORDY * len(parts) and SENTENCE.search(text) is not None


def listed_as_json(text: str) -> Items | None:
    """A flat list of words or of plain numbers."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = cast("list[object]", value) if isinstance(value, list) else []
    words = [each for each in found if isinstance(each, str) and 0 < len(each) <= SHORT]
    numbers = [str(each) for each in found if type(each) is int]
    parts = words if not any(number_of(word) is not None for word in words) else []
    parts = parts if len(parts) == len(found) else numbers if len(numbers) == len(found) else []
    return Items(parts, "") if len(parts) >= 2 and len(text) < LONGEST_LIST else None


def listed_as_python(text: str) -> Items | None:
    """A flat list of texts, as Python prints it."""
    if "'" not in text or len(text) >= LONGEST_LIST:
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    found = cast("list[object]", value) if isinstance(value, list) else []
    parts = [each for each in found if isinstance(each, str) and 0 < len(each) <= SHORT]
    fits = len(parts) == len(found) >= 2 and repr(parts) == text
    return Items(parts, "", is_quoted=True) if fits else None


def keyed(gold: str) -> dict[str, object] | None:
    """Its keys and values when it is a JSON object."""
    if not gold.strip().startswith("{"):
        return None
    try:
        value = json.loads(gold)
    except ValueError:
        return None
    return dict(value) if isinstance(value, dict) and value else None  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def wordings(case: Case) -> dict[str, str]:
    """The gold as it is said best, and with what some rewards want before it."""
    if case.said is None or case.gold is None:
        return {}
    much = f"<think>\n{FILLER.strip()}\n</think>\n"
    return {
        "as it earns most": case.said,
        "bare": case.gold,
        "after a thought": f"{THOUGHT}{case.said}",
        "after much thought": f"{much}{case.said}",
        "after some prose": f"{FILLER.strip()}\n\n{case.said}",
        "in tags": f"{much}<answer>\n{case.gold}\n</answer>",
    }
