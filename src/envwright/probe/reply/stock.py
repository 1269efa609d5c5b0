"""Texts that answer no question, in the kinds that tell why one of them is paid."""

import json
import re
from enum import StrEnum

from envwright.probe.case import Case
from envwright.probe.reply.request import request_of
from envwright.probe.reply.wording import FILLER, IDLE, framed, is_apart


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
BROKEN = ("{", '{"answer":', "<answer>", "\\boxed{", "((", "def (:", "nan", "1/0", "???")
LONGS = (
    FILLER.strip(),
    (FILLER * 6).strip(),
    "Step 1: read the question.\nStep 2: think about it.\nStep 3: check the result.\n"
    "Therefore, the answer follows from the steps above.",
)
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


def stock(case: Case) -> dict[str, tuple[Kind, str]]:
    """Fixed texts by their name, each plainly wrong here; golds that they hold are left out."""
    made: dict[str, tuple[Kind, str]] = {}
    for text in LABELS:
        made[repr(text)] = (Kind.LABEL, framed(case, text))
    for text in PHRASES:
        made[repr(text)] = (Kind.PHRASE, text)
    for text in IDLE:
        made[repr(text)] = (Kind.PROSE, text)
        made[f"{text!r} in the answer's form"] = (Kind.PROSE, framed(case, text))
    for text in BROKEN:
        made[repr(text)] = (Kind.BROKEN, text)
        made[f"{text!r} in the answer's form"] = (Kind.BROKEN, framed(case, text))
    for number, text in enumerate(LONGS, 1):
        made[f"generic prose {number}"] = (Kind.LONG, text)
    for number, text in enumerate(skeletons(case), 1):
        made[f"an empty form {number}"] = (Kind.SKELETON, text)
    gold = case.gold or ""
    return {
        label: (kind, text) for label, (kind, text) in made.items() if is_wrong(label, text, gold)
    }


def skeletons(case: Case) -> list[str]:
    """The forms that the request names, with nothing in them."""
    request = request_of(case.task)
    lowered = request.lower()
    made = [empty for sign, empty in SIGNS if sign in lowered]
    tags = list(dict.fromkeys(TAG.findall(request)))[:4]
    if tags:
        made.append("\n".join(f"<{tag}></{tag}>" for tag in tags))
        made.append("\n".join(f"<{tag}>\n...\n</{tag}>" for tag in tags))
    keys = list(dict.fromkeys(KEY.findall(request)))[:8]
    if keys:
        made.append(json.dumps(dict.fromkeys(keys, "")))
    made.append(framed(case, ""))
    return [text for text in dict.fromkeys(made) if text.strip()]


def is_wrong(label: str, text: str, gold: str) -> bool:
    """Whether no comparison of any kind could find the gold in it, or it in the gold.

    A label is compared by itself: what it is framed with is in every reply.
    """
    if not gold:
        return True
    own = label.strip("'\"") if label[0] in "'\"" and "form" not in label else text
    return is_apart(own, gold) or not own.strip("{}[]<>/`#\\ \n")
