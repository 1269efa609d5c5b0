"""Texts that answer no question, in the kinds that tell why one of them is paid."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from envwright.probe.case import Case
from envwright.probe.reply.request import request_of
from envwright.probe.reply.wording import FILLER, IDLE, framed, is_apart, plain
from envwright_host.gold import SHOWN


class Kind(StrEnum):
    LABEL = "label"
    """A value that is an answer somewhere."""
    PHRASE = "phrase"
    """What is said instead of an answer."""
    PROSE = "prose"
    """Words about nothing: whatever is read from them is not there."""
    LONG = "long"
    """Many of them."""
    SKELETON = "skeleton"
    """The demanded form without content."""
    BROKEN = "broken"
    """What a reader of numbers, JSON, code or tags stumbles over."""


LABELS = ("yes", "no", "true", "false", "0", "1", "A", "B", "C", "D")
PHRASES = (
    "I don't know.",
    "I cannot answer that question.",
    "N/A",
    "The answer is correct.",
    "Task completed successfully.",
)
BROKEN = ("{", '{"answer":', "<answer>", "\\boxed{", "((", "def (:", "nan", "0/0", "???")
LONGS = (
    FILLER.strip(),
    (FILLER * 6).strip(),
    "Step 1: read the question.\nStep 2: think about it.\nStep 3: check the result.\n"
    "Therefore, the answer follows from the steps above.",
)
RHETORIC = """## Analysis
First, let me think step by step, because this question deserves care. For example, one side of \
it is clear; however, the other side is not. Second, I have checked my work, and I am confident.

- **Reason:** the evidence supports it [1].
- **Result:** as shown above.

Therefore, in conclusion, the final answer follows. Thank you, and I hope this helps!"""
"""All that a reward may count in place of an answer."""
CODES = ("def solve(*args):\n    return None", "```python\ndef solve(*args):\n    pass\n```")
SIGNS = (
    # what the request mentions, and its empty form
    ("\\boxed", "\\boxed{}"),
    ("####", "#### "),
    ("```", "```\n\n```"),
    ("answer:", "Answer:"),
    ("json", "{}"),
    ("list", "[]"),
)
TAG = re.compile(r"<([A-Za-z][\w-]{0,30})>")
KEY = re.compile(r'"(\w{1,30})"\s*:')


@dataclass(frozen=True, slots=True)
class Stock:
    kind: Kind
    reply: str
    bare: str
    """Without the form: what a reader would take for the answer."""


def stock(case: Case) -> dict[str, Stock]:
    """Fixed texts by their name, each plainly wrong here; what holds the gold is left out."""
    made: dict[str, Stock] = {}
    for text in LABELS:
        made[repr(text)] = Stock(Kind.LABEL, framed(case, text), text)
    for text in PHRASES:
        made[repr(text)] = Stock(Kind.PHRASE, text, text)
    for kind, some in ((Kind.PROSE, IDLE), (Kind.BROKEN, BROKEN)):
        for text in some:
            made[repr(text)] = Stock(kind, text, text)
            made[in_form(text)] = Stock(kind, framed(case, text), text)
    for number, text in enumerate(LONGS, 1):
        made[f"generic prose {number}"] = Stock(Kind.LONG, text, text)
    made["rhetoric"] = Stock(Kind.LONG, RHETORIC, RHETORIC)
    made["rhetoric and an empty answer"] = Stock(
        Kind.LONG, f"{RHETORIC}\n\n{framed(case, 'unknown')}", f"{RHETORIC} unknown"
    )
    for text in CODES:
        made[repr(text)] = Stock(Kind.PHRASE, text, text)
    for number, text in enumerate(skeletons(case), 1):
        made[f"an empty form {number}"] = Stock(Kind.SKELETON, text, "")
    gold = case.gold or ""
    return {label: each for label, each in made.items() if is_wrong(each.bare, gold)}


def in_form(text: str) -> str:
    return f"{text!r} in the answer's form"


def is_wrong(bare: str, gold: str) -> bool:
    """Whether no comparison of any kind could find the gold in it, or it in the gold."""
    return not gold or not bare or is_apart(bare, gold) or not plain(bare)


def skeletons(case: Case) -> list[str]:
    """The forms that the request names, with nothing in them."""
    request = request_of(case.task)
    lowered = request.lower()
    made = [empty for sign, empty in SIGNS if sign in lowered]
    tags = list(dict.fromkeys(TAG.findall(request)))[:4]
    if tags:
        made.append("\n".join(f"<{tag}></{tag}>" for tag in tags))
        made.append("\n".join(f"<{tag}>\n...\n</{tag}>" for tag in tags))
        made.append("\n".join(f"<{tag}>\n{FILLER.strip()}\n</{tag}>" for tag in tags))
    keys = list(dict.fromkeys(KEY.findall(request)))[:8]
    if keys:
        made.append(json.dumps(dict.fromkeys(keys, "")))
        made.append(json.dumps(dict.fromkeys(keys, FILLER.strip())))
    labels = list(dict.fromkeys(match.group(1) for match in SHOWN.finditer(request)))[:6]
    if labels:
        made.append("\n".join(f"{label} {FILLER.strip()}" for label in labels))
    made.append(framed(case, ""))
    return [text for text in dict.fromkeys(made) if text.strip()]
