"""Replies on the way to the right one: nearer must not earn less."""

import json
from collections.abc import Sequence
from decimal import Decimal
from itertools import chain

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    MANY,
    Pay,
    Tally,
    finding,
    numbered,
    report,
    tries_of,
    without_gold,
)
from envwright.probe.reply.request import CYCLIC, ORDERED, asks
from envwright.probe.reply.wording import Items, framed, golden, keyed, listed, number_of
from envwright.probe.reply.wrong import other_value, stranger
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

MONOTONE = Rule(
    id="EW310",
    name="not-monotone",
    defect="not-monotone",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="Lists with the first one, two, … items right, alone, with strangers in place of the "
    "rest, and, where an order is asked for, with the rest in reverse; objects with ever more "
    "values right; numbers that come nearer from above and below.",
    hit="A reply that is nearer earns less than one before it, by 15 % of what the gold earns "
    "(25 % for numbers), on 60 % of the tasks.",
    why="The policy is pushed away from the answer.",
    exempt="Rewards that are all or nothing; numbers that wrap around by nature, such as hours.",
)

DROP = 0.15
DROP_OF_NUMBERS = 0.25
MOST_CASES = 30
MOST_ITEMS = 8
MANY_FIELDS = 3
FEWEST_IN_ORDER = 3
DISTANCES = (Decimal(4), Decimal(2), Decimal(1), Decimal("0.5"), Decimal("0.2"), Decimal("0.05"))


def ways(case: Case) -> dict[str, list[str]]:
    """Replies in the order in which they come nearer; the right one itself is not among them."""
    gold = (case.gold or "").strip()
    number = number_of(gold)
    if number is not None:
        made = {} if asks(CYCLIC, case.task) else approaches(number, len(gold.partition(".")[2]))
    elif (items := listed(gold)) is not None:
        made = lists(items)
        if asks(ORDERED, case.task):
            made |= orders(items)
    elif (fields := keyed(gold)) is not None:
        made = objects(fields)
    else:
        made = {}
    return {label: [framed(case, text) for text in texts] for label, texts in made.items()}


def objects(fields: dict[str, object]) -> dict[str, list[str]]:
    """Ever more values right, from the first on."""
    others = {n: other for n, value in fields.items() if (other := other_value(value)) is not None}
    if len(others) < MANY_FIELDS:
        return {}
    wrong = [dict(list(others.items())[right:]) for right in range(len(others))]
    return {"values of the object": [json.dumps({**fields, **each}) for each in wrong]}


def lists(items: Items) -> dict[str, list[str]]:
    parts = items.parts
    count = len(parts)
    rights = sorted({max(1, count * place // MOST_ITEMS) for place in range(1, MOST_ITEMS)})
    rights = [right for right in rights if right < count] if count > MOST_ITEMS else None
    strangers = [stranger(part, place) for place, part in enumerate(parts)]
    steps = rights or list(range(1, count))
    return {
        "items of the list": [items.write(parts[:right]) for right in steps],
        "items of the list in the right place": [
            items.write((*parts[:right], *strangers[right:])) for right in (0, *steps)
        ],
    }


def orders(items: Items) -> dict[str, list[str]]:
    """The right items, ever more of them in their order: all in reverse at first."""
    parts = items.parts
    if len(set(parts)) < max(FEWEST_IN_ORDER, len(parts)):
        return {}
    steps = sorted({len(parts) * place // MOST_ITEMS for place in range(MOST_ITEMS)})
    kept = [right for right in steps if right < len(parts) - 1]
    return {
        "orders of the list": [
            items.write((*parts[:right], *reversed(parts[right:]))) for right in kept
        ]
    }


def approaches(number: Decimal, places: int) -> dict[str, list[str]]:
    """From far above and far below, each step nearer than the one before."""
    if number == 0:
        return {}
    size = abs(number)
    made: dict[str, list[str]] = {}
    for label, sign in (("numbers from above", 1), ("numbers from below", -1)):
        texts = [f"{number + sign * size * share:.{places}f}" for share in DISTANCES]
        # One in which the gold is written may be paid for that, not for being near.
        digits = f"{size:.{places}f}"
        made[label] = [text for text in dict.fromkeys(texts) if digits not in text]
    return made


class Monotone:
    rules: tuple[Rule, ...] = (MONOTONE,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        def steps(case: Case) -> dict[str, str]:
            return numbered(chain.from_iterable(ways(case).values()))

        return tries_of(golden(sample, MOST_CASES), steps)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = golden(sample, MOST_CASES)
        if not cases:
            return (without_gold(MONOTONE, sample),)
        pay = Pay(sample, told)
        tallies = self._tallies(pay, cases)
        crooked = [each for each in tallies if each.reaches(MANY, len(cases))]
        found = [
            finding(
                MONOTONE,
                pay,
                f"{crooked[0].label} that come nearer to the gold earn less than before, on "
                f"{len(crooked[0].hits)} of {crooked[0].of} tasks: {self._way(pay, crooked[0])}",
                crooked[0].hits,
            )
            for _ in crooked[:1]
        ]
        tried = max((each.of for each in tallies), default=0)
        return (
            report(
                MONOTONE, sample, tried, *found, reason="no gold is a list, an object or a number"
            ),
        )

    def _tallies(self, pay: Pay, cases: Sequence[Case]) -> list[Tally]:
        hits: dict[str, list[tuple[Case, str]]] = {}
        counts: dict[str, int] = {}
        for case in cases:
            for label, replies in ways(case).items():
                shares = [pay.share(case, reply) for reply in replies]
                known = [share for share in shares if share is not None]
                if len(known) < max(2, len(shares)):
                    continue
                counts[label] = counts.get(label, 0) + 1
                is_number = label.startswith("numbers")
                at = dropped(known, DROP_OF_NUMBERS if is_number else DROP)
                # A single number that earns is an accident, not a way to the gold.
                is_graded = not is_number or sum(share > 0 for share in known) > 1
                if at is not None and is_graded:
                    hits.setdefault(label, []).append((case, replies[at]))
        return [Tally(label, tuple(hits.get(label, ())), of) for label, of in counts.items()]

    def _way(self, pay: Pay, each: Tally) -> str:
        case, _ = each.hits[0]
        return ", ".join(f"{pay.reward(case, reply):g}" for reply in ways(case)[each.label])


def dropped(shares: Sequence[float], least: float) -> int | None:
    """The first place that earns clearly less than one before it; None when there is none."""
    highest = float("-inf")
    for place, share in enumerate(shares):
        if highest - share >= least:
            return place
        highest = max(highest, share)
    return None
