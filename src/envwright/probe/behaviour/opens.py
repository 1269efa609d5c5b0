"""EW409 fails-open: what cannot be read is paid.

A wrong answer in the right form is the control: where that is paid too, whatever is said is
paid, and the fault is another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from envwright.finding import Finding, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.evidence import finding, shown
from envwright.probe.rule import Check, Extent, Report, Rule
from envwright.probe.scoring import Told, Try

OPENS = Rule(
    id="EW409",
    name="fails-open",
    defect="fails-open",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="junk that no reader can make sense of, bare and in the place of the answer",
    hit="on most tasks it earns half of what the gold earns or more, and a wrong answer in form "
    "does not",
    why="the model learns to break the grader instead of answering",
    exempt="tasks whose gold earns nothing, and rewards that pay for anything at all",
)
JUNK: tuple[tuple[str, str, bool], ...] = (
    # in words, what is said, and whether it takes the place of the gold
    ("random letters", "zxqv wkjp", False),
    ("marks without a word", "%% @@ ~~ ^^", False),
    ("JSON that is cut off", '{"answer": [1, ', False),
    ("a tag that is not closed", "<answer>zxqv", False),
    ("a code fence with junk", "```\n@@ ~~ %%\n```", False),
    ("random letters in the place of the answer", "zxqv wkjp", True),
    ("marks in the place of the answer", "@@ ~~", True),
    ("a cut-off expression in the place of the answer", "((1 +", True),
)
CASES = 30
MOST = 0.5
PAID = 0.5
"""The part of what the gold earns that counts as earning."""


@dataclass(frozen=True, slots=True)
class Paid:
    words: str
    case: Case
    reply: str
    reward: float
    on: int
    of: int


class Opens:
    rules = (OPENS,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        junk = [
            Try(case.task.index, reply)
            for case in usable(sample)
            for _, text, formed in JUNK
            if (reply := junk_for(case, text, formed=formed)) is not None
        ]
        return [*junk, *controls(sample)]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        if sample.gold_from is None:
            return [Report(rule=OPENS.id, extent=Extent.NO_GOLD, reason="no gold to compare with")]
        cases = usable(sample)
        paying = [(case, told.get(control)) for case, control in zip_controls(sample)]
        wrong = [
            tried.reward >= PAID * (case.best or 0)
            for case, tried in paying
            if tried is not None and tried.reward is not None
        ]
        if not cases or not wrong:
            why = "no task has both a gold that earns and another's gold to set against it"
            return [Report(rule=OPENS.id, extent=Extent.NOT_APPLICABLE, reason=why)]
        pays_anything = sum(wrong) / len(wrong) > MOST
        paid = [] if pays_anything else paid_junk(cases, told)
        return [
            Report(
                rule=OPENS.id,
                tried=len(cases),
                of=sample.total,
                reason="a wrong answer is paid as well: another rule's" if pays_anything else "",
                findings=tuple(told_of(sample, each) for each in paid[:1]),
            )
        ]


def usable(sample: Sample) -> list[Case]:
    """Those whose gold earns something."""
    return [case for case in sample.cases if case.said and (case.best or 0.0) > 0][:CASES]


def junk_for(case: Case, text: str, *, formed: bool) -> str | None:
    if not formed:
        return text
    if not case.gold or not case.said or case.gold not in case.said or case.gold == case.said:
        return None
    return case.said.replace(case.gold, text)


def zip_controls(sample: Sample) -> list[tuple[Case, Try]]:
    """To each task the gold of another, which is wrong and in form."""
    cases = usable(sample)
    found: list[tuple[Case, Try]] = []
    for place, case in enumerate(cases):
        others = [*cases[place + 1 :], *cases[:place]]
        other = next((each for each in others if each.gold != case.gold), None)
        if other is not None and other.said is not None:
            found.append((case, Try(case.task.index, other.said)))
    return found


def controls(sample: Sample) -> list[Try]:
    return [control for _, control in zip_controls(sample)]


def paid_junk(cases: Sequence[Case], told: Told) -> list[Paid]:
    """Kinds of junk that earn on most tasks, the most often paid first."""
    found: list[Paid] = []
    for words, text, formed in JUNK:
        tried = [
            (case, reply, told[each].reward)
            for case in cases
            if (reply := junk_for(case, text, formed=formed)) is not None
            and (each := Try(case.task.index, reply)) in told
        ]
        paid = [
            (case, reply, reward)
            for case, reply, reward in tried
            if reward is not None and reward >= PAID * (case.best or 0.0)
        ]
        if paid and len(paid) > MOST * len(tried):
            case, reply, reward = paid[0]
            found.append(Paid(words, case, reply, reward, len(paid), len(tried)))
    return sorted(found, key=lambda each: -each.on / each.of)


def told_of(sample: Sample, paid: Paid) -> Finding:
    return finding(
        OPENS,
        sample,
        paid.case,
        paid.reply,
        statement=f"{paid.words} ({shown(paid.reply, 60)!r}) earns {paid.reward:g} on "
        f"{paid.on} of {paid.of} tasks, the gold {paid.case.best:g}, "
        "and a wrong answer in form does not",
        quote=f"{paid.reward:g}",
    )
