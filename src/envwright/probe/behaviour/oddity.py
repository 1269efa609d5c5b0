"""Replies that a model can give and an author seldom thinks of; a row each.

Some stand alone, others take the place of the gold in the wording that is paid, so that
what reads the reply comes to them; others are the gold itself, spoiled. Lone surrogates are
not among them: a host spells them out as it reads what it is sent, so that no reward would
see one.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nan
from typing import Any, cast

from envwright.probe.case import Case


@dataclass(frozen=True, slots=True)
class Oddity:
    words: str
    unit: str
    count: int = 1
    formed: bool = False
    """Said in the place of the gold."""
    plausible: bool = True
    """Whether models say such things; the others come from attack or decay."""

    def reply_to(self, case: Case) -> str | None:
        """The reply; None where there is no wording to put it into."""
        text = self.unit * self.count
        if not self.formed:
            return text
        if not case.gold or not case.said or case.gold not in case.said:
            return None
        return case.said.replace(case.gold, text)


def rare(words: str, unit: str, count: int = 1, *, formed: bool = False) -> Oddity:
    return Oddity(words, unit, count, formed=formed, plausible=False)


ODDITIES: tuple[Oddity, ...] = (
    Oddity("an empty reply", ""),
    Oddity("blanks and newlines", " \n\t "),
    Oddity("a refusal", "I do not know."),
    Oddity("prose without any number", "The answer follows from what was said above."),
    Oddity("a single punctuation mark", "?"),
    Oddity("a zero", "0"),
    Oddity("the text None", "None"),
    Oddity("the text null", "null"),
    rare("the text NaN", "nan"),
    rare("the text -inf", "-inf"),
    rare("a division by zero", "1/0"),
    Oddity("a label without an answer", "Answer:"),
    Oddity("a tag that is not closed", "<answer>"),
    Oddity("a tag that was never opened", "</answer>"),
    Oddity("a tag without content", "<answer></answer>"),
    Oddity("a thinking block and nothing behind it", "<think>Let me see."),
    Oddity("a box that is not closed", "\\boxed{"),
    Oddity("an empty box", "\\boxed{}"),
    Oddity("a marker without an answer", "####"),
    Oddity("a code fence that is not closed", "```python\n"),
    Oddity("an empty code fence", "```\n```"),
    Oddity("JSON that is cut off", '{"answer": '),
    Oddity("JSON of another kind", "[1, 2]"),
    Oddity("a JSON object without keys", "{}"),
    Oddity("letters of other scripts and emoji", "Ответ 答え: ٤٢ ½ 🙂"),
    Oddity("full-width digits", "４２"),
    Oddity("a raised digit", "²"),
    Oddity("nothing in the place of the answer", "", formed=True),
    Oddity("words in the place of the answer", "no idea", formed=True),
    Oddity("a raised digit in the place of the answer", "²", formed=True),
    Oddity("a fraction sign in the place of the answer", "½", formed=True),
    Oddity("points in the place of the answer", "...", formed=True),
    Oddity("a number with two points in the place of the answer", "1.2.3", formed=True),
    Oddity("a dash in the place of the answer", "-", formed=True),
    rare("nan in the place of the answer", "nan", formed=True),
    rare("inf in the place of the answer", "inf", formed=True),
    rare("-inf in the place of the answer", "-inf", formed=True),
    Oddity("a zero in the place of the answer", "0", formed=True),
    Oddity("a negative number in the place of the answer", "-7", formed=True),
    rare("a division by zero in the place of the answer", "1/0", formed=True),
    rare("a tower of powers in the place of the answer", "9**9**9**9", formed=True),
    rare("a large number in the place of the answer", "1e300", formed=True),
    Oddity("a large prime in the place of the answer", "999999999989", formed=True),
    Oddity("a comma in the place of the answer", ",", formed=True),
    rare("a NUL", "a\x00b"),
    rare("control characters", "\x01\x02\x1b[31m\x7f"),
    rare("a bidirectional override", "\u202e42\u202c"),
    rare("400 digits", "9", 400),
    rare("5,000 digits", "9", 5000),
    rare("10,000 open brackets", "[", 10_000),
    rare("10,000 open parentheses", "(", 10_000),
    rare("5,000 nested JSON objects", '{"a":', 5000),
    rare("5,000 nested boxes", "\\boxed{", 5000),
    rare("a megabyte of text", "word and ", 116_509),
)

DIGIT = re.compile(r"\d")
LETTERED = re.compile(r"[^\W_]+")


def spoiled(gold: str) -> Iterator[tuple[str, str]]:
    """The gold as a careless writer leaves it, in words and as it is said then."""
    gold = gold.strip()
    if gold[:1] in ("{", "["):
        yield from spoiled_values(gold)
        return
    if len(gold) > 200:
        return
    if DIGIT.search(gold):
        yield "the gold and a full stop", f"{gold}."
        yield "the gold with nines for its digits", DIGIT.sub("9", gold)
        yield "the gold with zeros for its digits", DIGIT.sub("0", gold)
        yield "the gold with two minus signs", f"--{gold}"
    between = LETTERED.sub("", gold)
    if between.strip() and between != gold:
        yield "what stands between the gold's words", between
        yield "the gold's first word alone", LETTERED.findall(gold)[0]
    if len(gold) > 3:
        yield "the gold, cut off", gold[: len(gold) // 2]


Values = tuple[tuple[str, Any], ...]
OTHERS: Values = (
    ("null", None), ("a number", 7), ("a text", "seven"), ("a list", ["a"]), ("an object", {}),
    ("a negative number", -7), ("a zero", 0),
)  # fmt: skip
UNRULY: Values = (("NaN", nan), ("infinity", inf), ("minus infinity", -inf), ("1e300", 1e300))
"""Python reads and writes them as JSON, although they are none."""


def spoiled_values(gold: str) -> Iterator[tuple[str, str]]:
    """JSON of another kind than the gold is."""
    yield from with_values(gold, OTHERS)
    value = value_of(gold)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        yield "the gold without its last key", json.dumps(dict([*fields.items()][:-1]))
    elif isinstance(value, list):
        yield "a list without items", "[]"
    if value is not None:
        yield "the gold inside of a list", json.dumps([value])


def with_values(gold: str, others: Values) -> Iterator[tuple[str, str]]:
    """The gold's object or list with others in place of its values."""
    value = value_of(gold)
    for words, other in others:
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            yield f"{words} for each value of the gold", json.dumps(dict.fromkeys(fields, other))
        elif isinstance(value, list):
            yield f"a list of {words}", json.dumps([other] * len(cast("list[Any]", value)))


def value_of(gold: str) -> Any:
    """The object or list that is written there; None when it is none."""
    try:
        return json.loads(gold) if gold.strip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


GROWING: tuple[tuple[str, str, str], ...] = (
    # what it is, what is said again and again, and how it ends
    ("letters and a mark", "a", "!"),
    ("words and a mark", "ab ", "!"),
    ("spaces and a letter", " ", "x"),
    ("digits and a letter", "1", "x"),
    ("digits and commas", "1,", "x"),
    ("newlines and a letter", "\n", "x"),
    ("open boxes", "\\boxed{", ""),
    ("open answer tags", "<answer>", ""),
    ("open thinking tags", "<think>", ""),
    ("open parentheses", "(", ""),
    ("open braces", "{", ""),
    ("sums", "1+", "x"),
    ("dashes", "-", "x"),
)
SIZES = (2_000, 4_000, 8_000)


def replies_to(case: Case) -> Iterator[tuple[Oddity, str]]:
    gold = case.gold or ""
    own = [Oddity(words, text, formed=True) for words, text in spoiled(gold)]
    own += [rare(words, text, formed=True) for words, text in with_values(gold, UNRULY)]
    for odd in (*ODDITIES, *own):
        if (reply := odd.reply_to(case)) is not None:
            yield odd, reply


def growing(unit: str, end: str, size: int) -> str:
    """About `size` characters of it."""
    return unit * (size // len(unit)) + end
