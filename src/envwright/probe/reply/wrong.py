"""Answers that are wrong without any trick: another task's, a near miss, a part of the gold."""

import json
from collections.abc import Callable, Sequence
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
from envwright.probe.reply.request import OPEN, ORDERED, TOLERANT, all_ask, asks
from envwright.probe.reply.wording import (
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
    "with their digits reversed or another fraction; words with the same first letter, phrases "
    "with another word; the first half of the gold; lists with an item dropped or replaced, "
    "all but the first replaced, or in reverse where an order is asked for; objects "
    "with another value.",
    hit="A kind of wrong answer earns all that the gold earns on 60 % of the tasks; other tasks' "
    "golds on 75 %.",
    why="Whatever the policy learns here is false.",
    exempt="Partial credit: a near miss may earn less than the gold. Near numbers where the "
    "request speaks of a tolerance, another sign where no gold is negative, another order where "
    "it asks for none, and all near misses where it leaves the choice among many answers.",
)

MOST_CASES = 100
OTHER = "zebra"
ELSEWHERE = "the gold of another task"


def misses(case: Case, is_signed: bool, is_ordered: bool) -> dict[str, str]:
    """Wrong answers made of the gold, by what is wrong with them."""
    gold = (case.gold or "").strip()
    if not gold or asks(OPEN, case.task):
        return {}
    number = number_of(gold)
    if number is not None:
        made = numbers(gold, number, is_tolerant=asks(TOLERANT, case.task))
        if is_signed:
            made["the number with the other sign"] = opposite(gold)
    elif (items := listed(gold)) is not None:
        made = lists(*items, is_ordered=is_ordered and asks(ORDERED, case.task))
    elif (fields := keyed(gold)) is not None:
        made = objects(fields)
    else:
        made = words(gold) if is_answer(gold) else {}
    return {label: framed(case, text) for label, text in made.items() if plain(text) != plain(gold)}


def numbers(gold: str, number: Decimal, *, is_tolerant: bool) -> dict[str, str]:
    places = len(gold.partition(".")[2])

    def spelled(value: Decimal) -> str:
        return f"{value:.{places}f}"

    made = {
        "ten times the number": spelled(number * 10),
        "the number with its digits reversed": spelled_backwards(gold),
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
    is_signed = has_signs(sample)
    is_ordered = all_ask(ORDERED, [case.task for case in sample.cases])
    return lambda case: misses(case, is_signed, is_ordered)


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


def words(gold: str) -> dict[str, str]:
    if any(sign.isdigit() for sign in gold):
        return {}
    parts = gold.split()
    made: dict[str, str] = {}
    if len(gold) >= 3:
        made["another word with the same first letter"] = gold[0] + "qzvkxwj"
    if len(gold) >= 6:
        made["the first half of the gold"] = gold[: len(gold) // 2].strip()
    if len(parts) >= 2:
        made["the gold with another last word"] = " ".join((*parts[:-1], OTHER))
        made["the gold with another first word"] = " ".join((OTHER, *parts[1:]))
    return made


def lists(parts: Sequence[str], between: str, *, is_ordered: bool) -> dict[str, str]:
    strangers = [stranger(part, place) for place, part in enumerate(parts)]
    made = {
        "the list without its last item": [*parts[:-1]],
        "the list with another last item": [*parts[:-1], strangers[-1]],
        "the first item and others in place of the rest": [parts[0], *strangers[1:]],
        "the last item and others in place of the rest": [*strangers[:-1], parts[-1]],
    }
    if is_ordered:
        made["the list in reverse"] = [*reversed(parts)]
    return {label: between.join(items) for label, items in made.items()}


def stranger(item: str, place: int) -> str:
    """An item of the same kind that is not in the list."""
    number = number_of(item)
    return f"{OTHER}{'s' * place}" if number is None else str(number + 1009 + place)


def objects(fields: dict[str, object]) -> dict[str, str]:
    made: dict[str, str] = {}
    for place, name in (("first", next(iter(fields))), ("last", next(reversed(fields)))):
        value = fields[name]
        if isinstance(value, bool):
            other: object = not value
        elif isinstance(value, int | float):
            other = value + 7
        elif isinstance(value, str):
            other = OTHER
        else:
            continue
        made[f"the object with another {place} value"] = json.dumps({**fields, name: other})
    if len(fields) > 1:
        less = dict(list(fields.items())[:-1])
        made["the object without its last field"] = json.dumps(less)
    return made


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
        return [
            finding(
                WRONG,
                pay,
                f"a wrong answer earns what the gold earns: {named([e.label for e in paid])}; "
                f"{most.label}, on {len(most.hits)} of {most.of} tasks",
                most.hits,
            )
        ]


def others(sample: Sample, case: Case) -> dict[str, str]:
    return {
        f"{ELSEWHERE} ({number})": framed(case, other)
        for number, other in enumerate(rivals(sample, case), 1)
    }
