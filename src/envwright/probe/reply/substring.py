"""A wrong answer in which the gold is written."""

import re
from collections.abc import Sequence

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    FULL,
    HALF,
    MANY,
    Pay,
    finding,
    named,
    report,
    tally,
    tries_of,
    without_gold,
)
from envwright.probe.reply.wording import framed, golden, is_answer, listed
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

SUBSTRING = Rule(
    id="EW305",
    name="pays-for-a-substring",
    defect="pays-for-a-substring",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="The gold inside of a longer number (142, 427 for 42; 312 x 34 for 12 x 34) or of a "
    "longer word.",
    hit="The longer one earns what the gold earns, on 60 % of the tasks.",
    why="The policy is paid for texts that contain answers, and for wrong ones among them.",
    exempt="Golds of one letter, which readers of choices take from the start of a word. A gold "
    "that is a word among others is no piece of them: 'not 42' is left alone. Longer ones that "
    "earn without the gold in them as well.",
)

MOST_CASES = 100


def longer(case: Case) -> dict[str, str]:
    """Single wrong answers that hold the gold; the frame stays as it is."""
    return {label: framed(case, text) for label, (text, _) in embedded(case).items()}


def controls(case: Case) -> dict[str, str]:
    """The same without the gold: where they earn too, it is not the gold inside that earns."""
    return {label: framed(case, text) for label, (_, text) in embedded(case).items()}


def embedded(case: Case) -> dict[str, tuple[str, str]]:
    gold = (case.gold or "").strip()
    if not is_answer(gold) or listed(gold) is not None:
        return {}
    if any(sign.isdigit() for sign in gold):
        # Letters before it leave a number what it is, and so what is read from it.
        return longer_numbers(gold)
    if len(gold) < 2 or not (gold[0].isalnum() and gold[-1].isalnum()):
        return {}
    # As long as the gold itself, so that it is no slip of the pen to a reward that forgives some,
    # and of its own letters, which a reader that drops all others does not drop.
    size = max(4, len(gold))
    own = "".join(sign for sign in gold if sign.isalnum())[::-1]
    noise, other = ((each * (2 * size))[: 2 * size] for each in (own, own[1:] + own[:1]))
    return {
        "a longer word that begins with the gold": (gold + noise[:size], gold[:-1] + other),
        "a longer word that ends with the gold": (noise[:size] + gold, other + gold[1:]),
    }


def longer_numbers(gold: str) -> dict[str, tuple[str, str]]:
    made: dict[str, tuple[str, str]] = {}
    if re.search(r"\d[-:]\d", gold):
        # Dates and times have as many digits as they have: a longer one is none.
        return made
    found = list(re.finditer(r"\d+", gold))
    first, last = found[0], found[-1]
    if gold[0].isdigit():
        made["a longer number that ends with the gold"] = (
            "3" + gold,
            "9" * len(first.group()) + gold[max(1, first.end() - 1) :],
        )
    # A further place behind the point is hardly another number.
    if gold[-1].isdigit() and not re.search(r"[.,]\d*$", gold):
        made["a longer number that begins with the gold"] = (
            gold + "7",
            gold[: last.start() + 1] + "9" * len(last.group()),
        )
    return made


class Substring:
    rules: tuple[Rule, ...] = (SUBSTRING,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        cases = golden(sample, MOST_CASES)
        return [*tries_of(cases, longer), *tries_of(cases, controls)]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = golden(sample, MOST_CASES)
        if not cases:
            return (without_gold(SUBSTRING, sample),)
        pay = Pay(sample, told)

        def earns(case: Case, reply: str) -> bool | None:
            share = pay.share(case, reply)
            return None if share is None else share >= FULL

        tallies = tally(cases, longer, earns)
        without = {
            each.label for each in tally(cases, controls, earns) if each.reaches(HALF, len(cases))
        }
        paid = [
            each for each in tallies if each.reaches(MANY, len(cases)) and each.label not in without
        ]
        found = [
            finding(
                SUBSTRING,
                pay,
                f"{named([each.label for each in paid])} earns what the gold earns, on "
                f"{len(paid[0].hits)} of {paid[0].of} tasks",
                paid[0].hits,
            )
            for _ in paid[:1]
        ]
        tried = max((each.of for each in tallies), default=0)
        return (report(SUBSTRING, sample, tried, *found, reason="no short golds"),)
