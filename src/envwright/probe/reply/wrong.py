"""Answers that are wrong without any trick: another task's, a near miss, a part of the gold."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from envwright.finding import Finding, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    FULL,
    MANY,
    MOST,
    Pay,
    Tally,
    finding,
    named,
    report,
    tally,
    tries_of,
    without_gold,
)
from envwright.probe.reply.request import CODE, OPEN, ORDERED, TOLERANT, all_ask, asks
from envwright.probe.reply.wording import (
    Items,
    framed,
    golden,
    is_answer,
    keyed,
    listed,
    number_of,
    plain,
    rivals,
)
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

WRONG = Rule(
    id="EW306",
    name="pays-for-wrong",
    defect="pays-for-wrong",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="Golds of other tasks; numbers off by one, by 4 %, 10 %, tenfold, of the other sign, "
    "with their digits reversed, another first digit or another fraction; dates, times, pairs "
    "and amounts with another first or last number or unit; words with the same first letter, "
    "another ending or their letters in reverse, phrases with another word; the first half of the "
    "gold; marks such as a sharp left out; lists with an item dropped, replaced or added, numbers "
    "4 % off, all but the first replaced, or in reverse where an order is asked for; objects "
    "with another value.",
    hit="A kind of wrong answer earns all that the gold earns on 60 % of the tasks; other tasks' "
    "golds on 75 %.",
    why="Whatever the policy learns here is false.",
    exempt="Partial credit: a near miss may earn less than the gold. Near numbers where the "
    "request speaks of a tolerance, another sign where no gold is negative, another order where "
    "it asks for none, and all near misses where it leaves the choice among many answers. A "
    "further item alone is a note.",
)

MOST_CASES = 100
OTHER = "zebra"
ELSEWHERE = "the gold of another task"
FURTHER = "the list and a further item"
"""By itself looseness: a reader that takes what it was promised may overlook what follows."""
DIGITS = re.compile(r"\d+")
UNIT = re.compile(r"[-+]?[\d.,]+ ?([^\W\d]{1,12})")
"""What stands behind a number."""
MARKED = re.compile(r"(?<![^\W_])([^\W\d_]{1,2})[#\u266f\u266d+\-\u2212](?![^\s,;|])")
"""A sharp, a grade, an ion: a letter or two and a mark that makes something else of them."""
TELLING_DIGITS = 2
FEW_WORDS = 2
"""Up to which a value is a name and no text: a text may be said in other words."""


@dataclass(frozen=True, slots=True)
class Light:
    """What all golds together show of each."""

    is_signed: bool
    is_ordered: bool
    units: tuple[str, ...]
    """All that stand behind a number."""


def misses(case: Case, light: Light) -> dict[str, str]:
    """Wrong answers made of the gold, by what is wrong with them."""
    gold = (case.gold or "").strip()
    if not gold or asks(OPEN, case.task):
        return {}
    number = number_of(gold)
    if number is not None:
        made = numbers(gold, number, is_tolerant=asks(TOLERANT, case.task))
        if light.is_signed:
            made["the number with the other sign"] = opposite(gold)
    elif (items := listed(gold)) is not None:
        made = lists(items, is_ordered=light.is_ordered and asks(ORDERED, case.task))
        if not asks(TOLERANT, case.task):
            made |= little_off(items)
    elif (fields := keyed(gold)) is not None:
        made = objects(fields)
    elif not is_answer(gold):
        made = {}
    elif any(sign.isdigit() for sign in gold):
        # Programs that differ in a number may well do the same.
        is_free = asks(TOLERANT, case.task) or asks(CODE, case.task)
        made = {} if is_free else pieces(gold, light.units)
    else:
        made = words(gold)
    if (unmarked := MARKED.sub(r"\1", gold)) != gold:
        made["the gold without the marks behind its letters"] = unmarked
    return {label: framed(case, text) for label, text in made.items() if plain(text) != plain(gold)}


def numbers(gold: str, number: Decimal, *, is_tolerant: bool) -> dict[str, str]:
    places = len(gold.partition(".")[2])

    def spelled(value: Decimal) -> str:
        return f"{value:.{places}f}"

    made = {
        "ten times the number": spelled(number * 10),
        "the number with its digits reversed": spelled_backwards(gold),
        "the number with another first digit": with_another_start(gold),
    }
    if is_tolerant:
        return made
    if not places:
        made["the number and one more"] = spelled(number + 1)
        made["the number less one"] = spelled(number - 1)
        made["the number with another fraction"] = f"{number}.7"
    made["the number and a tenth of it"] = spelled(away(number, Decimal("0.1"), places))
    made["the number and 4 % of it"] = spelled(away(number, Decimal("0.04"), places))
    return made


def opposite(gold: str) -> str:
    return gold[1:] if gold[0] in "-\u2212" else f"-{gold}"


def made_of(sample: Sample) -> Callable[[Case], dict[str, str]]:
    """`misses` of each case, in the light of all."""
    golds = [(case.gold or "").strip() for case in sample.cases]
    light = Light(
        is_signed=has_signs(sample),
        is_ordered=all_ask(ORDERED, [case.task for case in sample.cases]),
        units=tuple(dict.fromkeys(u.group(1) for gold in golds if (u := UNIT.fullmatch(gold)))),
    )
    return lambda case: misses(case, light)


def has_signs(sample: Sample) -> bool:
    """Whether a sign means something here: where none is negative, a reader may overlook it."""
    found = (number_of(case.gold or "") for case in sample.cases)
    return any(number is not None and number < 0 for number in found)


def away(number: Decimal, share: Decimal, places: int) -> Decimal:
    """So far from it, and at least by what its last place can tell."""
    return number + max(abs(number) * share, Decimal(2).scaleb(-places))


def spelled_backwards(gold: str) -> str:
    digits = [sign for sign in gold if sign.isdigit()]
    # A number does not begin with a zero, and a palindrome is itself.
    if digits[-1] == "0" or digits == digits[::-1]:
        return gold
    backwards = iter(reversed(digits))
    return "".join(next(backwards) if sign.isdigit() else sign for sign in gold)


def pieces(gold: str, units: Sequence[str]) -> dict[str, str]:
    """Numbers inside of a gold: of a date, a time, a pair, a fraction, an amount with its unit.

    A sentence with a number in it is a text.
    """
    found = list(DIGITS.finditer(gold))
    made: dict[str, str] = {}
    if len(re.findall(r"[^\W\d_]{2,}", gold)) > FEW_WORDS + 1:
        return made
    for place, match in (("first", found[0]), ("last", found[-1])):
        text = match.group()
        other = int(text) - 1 if int(text) > 1 else int(text) + 1
        changed = f"{gold[: match.start()]}{other:0{len(text)}}{gold[match.end() :]}"
        made[f"the gold with another {place} number"] = changed
    unit = UNIT.fullmatch(gold)
    others = [each for each in units if unit is not None and each != unit.group(1)]
    if unit is not None and others:
        made["the gold with another unit"] = gold[: unit.start(1)] + others[0]
    return made


def with_another_start(gold: str) -> str:
    """Far from it, and the same from the second digit on."""
    found = re.search(r"\d", gold)
    if found is None or sum(sign.isdigit() for sign in gold) < TELLING_DIGITS:
        return gold
    other = {"9": "4", "8": "3"}.get(found.group(), str(int(found.group()) + 2))
    return f"{gold[: found.start()]}{other}{gold[found.end() :]}"


def words(gold: str) -> dict[str, str]:
    parts = gold.split()
    made: dict[str, str] = {}
    if len(gold) >= 3:
        made["another word with the same first letter"] = gold[0] + "qzvkxwj"
    if len(gold) >= 6:
        made["the first half of the gold"] = gold[: len(gold) // 2].strip()
    if len(gold) >= 4 and len(parts) == 1:
        made["the gold's letters in reverse"] = gold[::-1]
        made["the gold with another ending"] = gold[: max(3, len(gold) * 2 // 3)] + "qzv"
    if len(parts) >= 2:
        made["the gold with another last word"] = " ".join((*parts[:-1], OTHER))
        made["the gold with another first word"] = " ".join((OTHER, *parts[1:]))
    return made


def lists(items: Items, *, is_ordered: bool) -> dict[str, str]:
    parts = items.parts
    strangers = [stranger(part, place) for place, part in enumerate(parts)]
    made = {
        "the list without its last item": [*parts[:-1]],
        "the list with another last item": [*parts[:-1], strangers[-1]],
        FURTHER: [*parts, stranger(parts[-1], len(parts))],
        "the first item and others in place of the rest": [parts[0], *strangers[1:]],
        "the last item and others in place of the rest": [*strangers[:-1], parts[-1]],
    }
    if is_ordered:
        made["the list in reverse"] = [*reversed(parts)]
    return {label: items.write(parts) for label, parts in made.items()}


def little_off(items: Items) -> dict[str, str]:
    found = [number_of(part) for part in items.parts]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(found):
        return {}
    places = [len(part.partition(".")[2]) for part in items.parts]
    off = [
        f"{away(number, Decimal('0.04'), n):.{n}f}"
        for number, n in zip(numbers, places, strict=True)
    ]
    return {"the list with each number and 4 % of it": items.write(off)}


def stranger(item: str, place: int) -> str:
    """An item of the same kind that is not in the list."""
    number = number_of(item)
    return f"{OTHER}{'s' * place}" if number is None else str(number + 1009 + place)


def objects(fields: dict[str, object]) -> dict[str, str]:
    others = {n: other for n, value in fields.items() if (other := other_value(value)) is not None}
    if not others:
        return {}
    first, last = next(iter(others)), next(reversed(others))
    made = {
        f"the object with another {place} value": {**fields, name: others[name]}
        for place, name in (("first", first), ("last", last))
    }
    if len(fields) > 1:
        made["the object without a field"] = {n: v for n, v in fields.items() if n != last}
    return {label: json.dumps(each) for label, each in made.items()}


def other_value(value: object) -> object | None:
    """Of the same kind; None where another text may say the same."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 7
    return OTHER if isinstance(value, str) and len(value.split()) <= FEW_WORDS else None


class Wrong:
    rules: tuple[Rule, ...] = (WRONG,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        cases = golden(sample, MOST_CASES)
        return [
            *tries_of(cases, made_of(sample)),
            *tries_of(cases, lambda case: others(sample, case)),
        ]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = golden(sample, MOST_CASES)
        if not cases:
            return (without_gold(WRONG, sample),)
        pay = Pay(sample, told)

        def earns(case: Case, reply: str) -> bool | None:
            share = pay.share(case, reply)
            return None if share is None else share >= FULL

        near = tally(cases, made_of(sample), earns)
        far = tally(cases, lambda case: others(sample, case), earns)
        paid = [each for each in near if each.reaches(MANY, len(cases))]
        paid += [each for each in far if each.reaches(MOST, len(cases))][:1]
        tried = max((each.of for each in (*near, *far)), default=0)
        found = self._finding(pay, paid)
        return (report(WRONG, sample, tried, *found, reason="no golds that differ"),)

    def _finding(self, pay: Pay, paid: Sequence[Tally]) -> list[Finding]:
        if not paid:
            return []
        most = max(paid, key=lambda each: len(each.hits) / each.of)
        kinds = named([each.label for each in paid])
        where = f"{most.label}, on" if len(paid) > 1 else "on"
        return [
            finding(
                WRONG,
                pay,
                f"a wrong answer earns what the gold earns: {kinds}{';' if len(paid) > 1 else ','} "
                f"{where} {len(most.hits)} of {most.of} tasks",
                most.hits,
                Severity.INFO if kinds == FURTHER else None,
            )
        ]


def others(sample: Sample, case: Case) -> dict[str, str]:
    return {
        f"{ELSEWHERE} ({number})": framed(case, other)
        for number, other in enumerate(rivals(sample, case), 1)
    }
