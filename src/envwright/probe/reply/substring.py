"""A wrong answer in which the gold is written."""

from collections.abc import Sequence

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    FULL,
    MANY,
    Pay,
    finding,
    named,
    report,
    tally,
    tries_of,
    without_gold,
)
from envwright.probe.reply.wording import framed, golden, is_answer, number_of
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

SUBSTRING = Rule(
    id="EW305",
    name="pays-for-a-substring",
    defect="pays-for-a-substring",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="The gold inside of a longer number (142, 427 for 42) or of a longer word.",
    hit="The longer one earns what the gold earns, on 60 % of the tasks.",
    why="The policy is paid for texts that contain answers, and for wrong ones among them.",
    exempt="Golds of one letter, which readers of choices take from the start of a word. A gold "
    "that is a word among others is no piece of them: 'not 42' is left alone.",
)

LETTERS = "zqxvkjwz"
MOST_CASES = 60


def longer(case: Case) -> dict[str, str]:
    """Single wrong answers that hold the gold; the frame stays as it is."""
    gold = (case.gold or "").strip()
    if not is_answer(gold):
        return {}
    if number_of(gold) is not None:
        return {label: framed(case, text) for label, text in longer_numbers(gold).items()}
    if len(gold) < 2 or not (gold[0].isalnum() and gold[-1].isalnum()):
        return {}
    # As long as the gold itself, so that it is no slip of the pen to a reward that forgives some.
    noise = (LETTERS * (len(gold) // len(LETTERS) + 1))[: max(4, len(gold))]
    return {
        "a longer word that begins with the gold": framed(case, gold + noise),
        "a longer word that ends with the gold": framed(case, noise + gold),
    }


def longer_numbers(gold: str) -> dict[str, str]:
    made: dict[str, str] = {}
    if gold[0].isdigit():
        made["a longer number that ends with the gold"] = "3" + gold
    if "." not in gold and "," not in gold:
        made["a longer number that begins with the gold"] = gold + "7"
    return made


class Substring:
    rules: tuple[Rule, ...] = (SUBSTRING,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        return tries_of(golden(sample, MOST_CASES), longer)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = golden(sample, MOST_CASES)
        if not cases:
            return (without_gold(SUBSTRING, sample),)
        pay = Pay(sample, told)

        def earns(case: Case, reply: str) -> bool | None:
            share = pay.share(case, reply)
            return None if share is None else share >= FULL

        tallies = tally(cases, longer, earns)
        paid = [each for each in tallies if each.reaches(MANY, len(cases))]
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
