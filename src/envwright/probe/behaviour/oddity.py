"""Replies that a model can give and an author seldom thinks of; a row each.

Some stand alone, others take the place of the gold in the wording that is paid, so that
what reads the reply comes to them. Lone surrogates are not among them: a host spells them out
as it reads what it is sent, so that no reward would see one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

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
        if not case.gold or not case.said or case.gold not in case.said or case.said == case.gold:
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
    rare("a raised digit", "²"),
    Oddity("nothing in the place of the answer", "", formed=True),
    Oddity("words in the place of the answer", "no idea", formed=True),
    rare("a raised digit in the place of the answer", "²", formed=True),
    rare("nan in the place of the answer", "nan", formed=True),
    rare("inf in the place of the answer", "inf", formed=True),
    rare("-inf in the place of the answer", "-inf", formed=True),
    Oddity("a zero in the place of the answer", "0", formed=True),
    Oddity("a negative number in the place of the answer", "-7", formed=True),
    rare("a division by zero in the place of the answer", "1/0", formed=True),
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
    for odd in ODDITIES:
        if (reply := odd.reply_to(case)) is not None:
            yield odd, reply


def growing(unit: str, end: str, size: int) -> str:
    """About `size` characters of it."""
    return unit * (size // len(unit)) + end
