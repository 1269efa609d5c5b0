"""Running numbers and ids that a prompt shows and that mean nothing: (7), Question 7, #a3f9.

One is taken out only where that is proven to be without loss: what is left tells the gold as
surely as before, on more tasks than chance would have it. `Is 7 prime?` keeps its number,
for without it the same words have two golds.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from envwright.probe.data.text import answer_form, normalised

CHANCE = 1e-4
NEARLY_ALL = 0.9
FEWEST = 5
TOKEN = re.compile(r"\S*\d\S*|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.I)
NUMBER = re.compile(r"\d{1,12}")
CALLED = re.compile(
    r"(?:\b(?:q|question|task|item|problem|exercise|example|no|nr|num|number|case|id|uid|uuid|ref"
    r"|reference|ticket|record|entry|row|sample|puzzle|round|seed|instance|variant|request|serial"
    r"|session|batch)[.:#]?|[#№])\s*$",
    re.I,
)
PUT_ASIDE = re.compile(r"[\[({<#].*|.*[\])}>:.]")
LONGEST = 20_000


def without_serials(prompts: Sequence[str], golds: Sequence[str | None]) -> list[str]:
    """The prompts as they compare: without a serial where one is proven to be there."""
    plain = [normalised(prompt) for prompt in prompts]
    if len(prompts) < FEWEST or max(map(len, prompts), default=0) > LONGEST:
        return plain
    for place in (0, -1, 1):
        spots = [spot_of(prompt, place) for prompt in trimmed(prompts)]
        if not is_serial(spots):
            continue
        rest = [
            normalised(spot.rest) if spot else text for spot, text in zip(spots, plain, strict=True)
        ]
        if len(set(rest)) > 1 and tell_the_gold(rest, golds):
            return rest
    return plain


def tell_the_gold(texts: Sequence[str], golds: Sequence[str | None]) -> bool:
    """Whether texts that are the same have the same gold, and more of them than by chance."""
    known = [(t, answer_form(g)) for t, g in zip(texts, golds, strict=True) if g is not None]
    by_text: dict[str, set[str]] = defaultdict(set)
    for text, gold in known:
        by_text[text].add(gold)
    if any(len(said) > 1 for said in by_text.values()):
        return False
    counts = Counter(gold for _, gold in known)
    alike = sum((n / len(known)) ** 2 for n in counts.values())
    return alike ** (len(known) - len(by_text)) < CHANCE


class Spot:
    """A token with a digit in a prompt, and what is around it."""

    __slots__ = ("before", "behind", "token")

    def __init__(self, text: str, found: re.Match[str]) -> None:
        self.before, self.token, self.behind = (
            text[: found.start()],
            found.group(),
            text[found.end() :],
        )

    @property
    def rest(self) -> str:
        return f"{self.before} {self.behind}"

    @property
    def number(self) -> int | None:
        found = NUMBER.findall(self.token)
        return int(found[0]) if len(found) == 1 else None

    @property
    def is_apart(self) -> bool:
        """Whether it is called an id, or stands before or behind all that is asked."""
        if CALLED.search(self.before):
            return True
        edge = not self.before.strip() or not self.behind.strip()
        return edge and bool(PUT_ASIDE.fullmatch(self.token))


def spot_of(text: str, place: int) -> Spot | None:
    found = list(TOKEN.finditer(text))
    return Spot(text, found[place]) if -len(found) <= place < len(found) else None


def is_serial(spots: Sequence[Spot | None]) -> bool:
    """Whether they count up task by task, or are ids that (nearly) no two tasks share."""
    seen = [spot for spot in spots if spot is not None]
    if len(seen) < NEARLY_ALL * len(spots):
        return False
    numbers = [spot.number for spot in seen]
    steps = Counter(b - a for a, b in pairwise(numbers) if a is not None and b is not None)
    step, times = steps.most_common(1)[0] if steps else (0, 0)
    if step and times >= NEARLY_ALL * (len(seen) - 1):
        return True
    distinct = len({spot.token for spot in seen})
    apart = sum(spot.is_apart for spot in seen)
    return min(distinct, apart) >= NEARLY_ALL * len(seen)


def trimmed(prompts: Sequence[str]) -> Iterator[str]:
    """Without the words that all begin and end with: a system prompt has numbers, too."""
    split = [prompt.split() for prompt in prompts]
    start = shared([words for words in split])
    end = shared([words[start:][::-1] for words in split])
    for words in split:
        kept = words[start : len(words) - end]
        # The word before a number says what it is.
        lead = words[start - 1 : start] if start else []
        yield " ".join([*lead, *kept])


def shared(lists: Sequence[Sequence[str]]) -> int:
    """How many words all of them begin with."""
    count = 0
    for column in zip(*lists, strict=False):
        if len(set(column)) > 1:
            return count
        count += 1
    return count
