"""The right answer in another usual form.

What a request demands plainly is left alone: a form is only tried where nothing in the
request speaks against it. So a miss is more likely here than a false alarm.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    MANY,
    REFUSED,
    Pay,
    finding,
    named,
    report,
    tally,
    tries_of,
    without_gold,
)
from envwright.probe.reply.request import (
    ALONE,
    CASE,
    CHOICE,
    CODE,
    EXACT,
    FORMED,
    JSON,
    PUNCTUATION,
    SPELLING,
    is_shown,
    request_of,
)
from envwright.probe.reply.wording import (
    LEAD,
    THOUGHT,
    frame,
    golden,
    is_answer,
    is_gold,
    listed,
    number_of,
)
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

EQUIVALENT = Rule(
    id="EW308",
    name="refuses-equivalents",
    defect="refuses-equivalents",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="The gold with spaces or newlines around it, in another case, with a full stop, with a "
    "thousands separator or a closing zero, after a thinking block, in a sentence, in bold, in "
    "a code fence, as LaTeX.",
    hit="One of these forms earns less than half of what the gold earns, on 60 % of the tasks "
    "where the request does not speak against it.",
    why="The policy is taught an accident of spelling, or is punished at random.",
    exempt="Forms that the request rules out: it wants the answer alone, exact, in a certain case "
    "or notation; long texts, code and lists.",
)

MOST_CASES = 40
MOST_WORDS = 4
"""More are a sentence of their own."""

Demands = tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A way to say the same, and what in a request forbids it."""

    label: str
    reply: str
    unless: Demands


def forms(case: Case) -> list[Form]:
    """All ways that make sense for this gold; of the gold alone first, then of the whole reply."""
    ends = frame(case)
    gold = (case.gold or "").strip()
    if ends is None or case.said is None or not is_answer(gold):
        return []
    before, behind = ends
    is_bare = not before.strip() and not behind.strip()
    made = [*inner(gold, is_bare), *([] if is_bare else [spaced(gold, behind)])]
    whole = [Form(form.label, f"{before}{form.reply}{behind}", form.unless) for form in made]
    if not is_bare and not is_shown(f"{before} {behind}", request_of(case.task)):
        free = (EXACT, ALONE, SPELLING, FORMED)
        whole.append(Form("outside of a form that the request does not show", gold, free))
    return [*whole, *outer(case.said, gold, is_bare, behind)]


def spaced(gold: str, behind: str) -> Form:
    """Between two ends spaces are nobody's business; on a line by itself they may be."""
    is_closed = bool(behind.strip()) and not behind.startswith("\n")
    unless = (EXACT,) if is_closed else (EXACT, ALONE, FORMED)
    return Form("with spaces around it inside of its form", f" {gold} ", unless)


def inner(gold: str, is_bare: bool) -> list[Form]:
    """The gold itself, spelled otherwise."""
    if number_of(gold) is not None:
        return numerals(gold)
    made: list[Form] = []
    if is_phrase(gold):
        other = gold.lower() if gold != gold.lower() else gold.capitalize()
        made.append(Form("in another case", other, (EXACT, ALONE, CASE, SPELLING)))
    if is_bare and is_phrase(gold):
        made.append(Form("with a full stop", f"{gold}.", (EXACT, ALONE, PUNCTUATION, SPELLING)))
    return made


def numerals(gold: str) -> list[Form]:
    whole, point, rest = gold.partition(".")
    unless = (EXACT, ALONE, SPELLING)
    made: list[Form] = []
    if whole.isdigit() and len(whole) > 3:
        made.append(Form("with a thousands separator", f"{int(whole):,}{point}{rest}", unless))
    if "," in gold:
        made.append(Form("without its thousands separator", gold.replace(",", ""), unless))
    if rest:
        made.append(Form("with a closing zero", f"{gold}0", unless))
    return made


def outer(said: str, gold: str, is_bare: bool, behind: str) -> list[Form]:
    """The whole reply, with something around it."""
    around = (EXACT, ALONE, CHOICE, JSON)
    made = [
        Form("with newlines around it", f"\n{said}\n", (EXACT,)),
        Form("after a thinking block", f"{THOUGHT}{said}", around),
    ]
    if not is_bare:
        made.append(Form("after some prose", f"I looked at it with care.\n\n{said}", around))
        if behind.strip():
            made.append(Form("before some prose", f"{said}\n\nI hope it helps.", around))
        return made
    free = (*around, SPELLING, PUNCTUATION)
    if len(gold.split()) <= MOST_WORDS:
        made.append(Form("in a sentence", f"{LEAD}{said}.", free))
    made += [
        Form("in bold", f"**{said}**", free),
        Form("in a code fence", f"```\n{said}\n```", free),
    ]
    if number_of(gold) is not None:
        made.append(Form("as LaTeX", f"${said}$", free))
    return made


def is_phrase(gold: str) -> bool:
    """Words of the language: no code, no formula, no single letter."""
    return len(gold) > 1 and all(part.isalpha() for part in gold.replace("-", " ").split())


def equivalents(case: Case) -> dict[str, str]:
    if CODE.search(request_of(case.task)) or listed(case.gold or "") is not None:
        return {}
    request = request_of(case.task)
    return {
        form.label: form.reply
        for form in forms(case)
        if form.reply != case.said and not any(each.search(request) for each in form.unless)
    }


class Equivalent:
    rules: tuple[Rule, ...] = (EQUIVALENT,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        return tries_of(paid_golds(sample), equivalents)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = paid_golds(sample)
        if not any(map(is_gold, sample.cases)):
            return (without_gold(EQUIVALENT, sample),)
        pay = Pay(sample, told)

        def refused(case: Case, reply: str) -> bool | None:
            share = None if pay.is_scrap(case) else pay.share(case, reply)
            return None if share is None else share < REFUSED

        tallies = tally(cases, equivalents, refused)
        missed = [each for each in tallies if each.reaches(MANY, len(cases))]
        found = [
            finding(
                EQUIVALENT,
                pay,
                f"the gold is refused {named([each.label for each in missed])}, though the request "
                f"does not speak against it, on {len(missed[0].hits)} of {missed[0].of} tasks",
                missed[0].hits,
            )
            for _ in missed[:1]
        ]
        tried = max((each.of for each in tallies), default=0)
        why = "no gold that earns has another usual form"
        return (report(EQUIVALENT, sample, tried, *found, reason=why),)


def paid_golds(sample: Sample) -> list[Case]:
    """Where the gold earns nothing, or is a move in a game, its forms say nothing."""
    if sample.environment.episodic:
        return []
    return [case for case in golden(sample, MOST_CASES) if (case.best or 0) > 0]
