"""Answers in good form that are right elsewhere: one of them, said on every task.

Where such a text earns on tasks with which it has nothing in common, it is the form that is
paid. If the golds of the set alone earn so, the reward compares with the wrong thing; if made
up answers do as well, it compares with nothing.
"""

import json
import re
from collections.abc import Sequence

from envwright.probe.case import Case, Sample
from envwright.probe.reply.wording import is_gold, keyed, number_of, plain

WORDS = re.compile(r"[^\W_]+")
BETWEEN = re.compile(r"([^\w]+)")
LONGEST = 600
COMMON = 0.3
"""Of the words of two texts, up to which they share them by chance."""
MANY_WORDS = 8
FEWEST_GOLDS = 3
FEWEST_SHARED = 4
"""Words, from which on what all golds share is a text."""


def elsewhere(sample: Sample) -> tuple[list[str], str | None]:
    """Two golds of the sample, and an answer that is made of the pieces of several."""
    golds = [
        case.gold.strip()
        for case in sample.cases
        if case.gold is not None and is_gold(case) and len(case.gold) <= LONGEST
    ]
    golds = [gold for gold in dict.fromkeys(golds) if number_of(gold) is None]
    if len(golds) < 2:
        return [], None
    return [golds[0], golds[len(golds) // 2]], made_up(golds)


def is_unlike(text: str, gold: str) -> bool:
    """Whether they have nothing in common but their form."""
    one, other = keyed(text), keyed(gold)
    if one is not None and other is not None:
        return all(one[name] != value for name, value in other.items() if name in one)
    ours, theirs = ({*WORDS.findall(each.casefold())} for each in (text, gold))
    least = min(len(ours), len(theirs))
    shared = len(ours & theirs)
    return shared <= COMMON * least if least > MANY_WORDS else not shared and bool(least)


def made_up(golds: Sequence[str]) -> str | None:
    """The form of all with each piece from another; None where that gives no new answer."""
    known = {plain(gold) for gold in golds}
    fields = [found for gold in golds if (found := keyed(gold)) is not None]
    if len(fields) == len(golds):
        names = list(fields[0])
        alike = [each for each in fields if list(each) == names]
        mixes = (
            json.dumps({n: alike[(at + 3 * k) % len(alike)][n] for k, n in enumerate(names)})
            for at in range(len(alike))
        )
        return next((mix for mix in mixes if len(names) > 1 and plain(mix) not in known), None)
    pieces = [BETWEEN.split(gold) for gold in golds]
    alike = [each for each in pieces if each[1::2] == pieces[0][1::2]]
    if len(pieces[0]) < 3 or len(alike) < 3:
        return None
    mixes = (
        "".join(alike[(at + 3 * (k // 2)) % len(alike)][k] for k in range(len(pieces[0])))
        for at in range(len(alike))
    )
    return next((mix for mix in mixes if plain(mix) not in known), None)


def shared_by_all(sample: Sample) -> str | None:
    """The words that stand in every gold, in the first one's order: the text without its matter.

    None where golds are no texts, or one of them says nothing else.
    """
    golds = [case.gold for case in sample.cases if case.gold is not None and is_gold(case)]
    golds = [gold for gold in dict.fromkeys(golds) if len(gold) <= LONGEST]
    if len(golds) < FEWEST_GOLDS or any(gold.lstrip()[:1] in "{[" for gold in golds):
        return None
    found = [{*WORDS.findall(gold.casefold())} for gold in golds]
    common = set[str].intersection(*found)
    if len(common) < FEWEST_SHARED or common in found:
        return None
    lines = [
        " ".join(each for each in line.split() if {*WORDS.findall(each.casefold())} <= common)
        for line in golds[0].splitlines()
    ]
    return "\n".join(lines).strip()


def said_elsewhere(texts: Sequence[str], case: Case) -> dict[str, str]:
    """Those that have nothing in common with the case's gold, by what they are called."""
    gold = (case.gold or "").strip()
    return {label_of(text): text for text in texts if gold and is_unlike(text, gold)}


def label_of(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}…")
