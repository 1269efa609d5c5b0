"""The right answer that is not paid in full."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from envwright.finding import Finding, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    FEWEST,
    NONE,
    SHORT_OF,
    Pay,
    declared,
    finding,
    numbered,
    report,
    tries_of,
    usual,
    without_gold,
)
from envwright.probe.reply.request import CODE, asks, is_shown, request_of
from envwright.probe.reply.spray import alone
from envwright.probe.reply.wording import frame, golden, is_gold, wordings
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

REFUSED_GOLD = Rule(
    id="EW307",
    name="refuses-gold",
    defect="refuses-gold",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="The gold in every wording that is known, and with a thought or some prose before it; "
    "where it earns in a form that the request does not show, also as the other golds earn.",
    hit="On a tenth of the tasks, and on two at least, it earns no more than words about nothing "
    "or less than three quarters of what other tasks' golds earn, or of what golds are worth and "
    "no more than wrong answers in the same form; or on all tasks less than "
    "three quarters of what the parts pay one by one, and no reply earns them together. A form "
    "that nobody asked for does not count where the one that other golds earn in is refused.",
    why="The policy is punished for being right, and nothing that it does is worth the maximum.",
    exempt="Golds that are placeholders; golds that cannot be said, because the reply is to be run "
    "or a tool is to be called, unless what is not paid sees the last reply alone; "
    "tasks that are worth different amounts outside of the declared range.",
)

SHARE = 0.1
MOST_BESIDE = 100
SAID = 0.25
"""Of the golds: where so many earn, the gold is what is to be said."""
SAID_BESIDE_TOOLS = 0.5
"""Some tasks may want a call."""


class RefusedGold:
    rules: tuple[Rule, ...] = (REFUSED_GOLD,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        cases = [case for case in sample.cases if is_gold(case)]
        asked = usual_frame(cases)
        return [
            *tries_of(cases, wordings),
            *(Try(case.task.index, reply) for case, reply in plainly(cases, asked)),
            *tries_of(golden(sample, MOST_BESIDE), lambda case: numbered(alone(sample, case))),
        ]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = [case for case in sample.cases if is_gold(case)]
        if not cases:
            return (without_gold(REFUSED_GOLD, sample),)
        paid = sum((case.best or 0) > 0 for case in cases)
        least = SAID_BESIDE_TOOLS if sample.environment.tools else SAID
        is_said = paid >= least * len(cases) and not sample.environment.episodic
        sayable = [case for case in cases if is_said or is_sayable(sample, case)]
        pay = Pay(sample, told)
        best = {case.task.index: pay.best(case) or 0.0 for case in sayable}
        for case, reply in plainly(sayable, usual_frame(sayable)):
            earned = pay.reward(case, reply)
            best[case.task.index] = best[case.task.index] if earned is None else earned
        found = self._some(pay, sayable, best) or self._parts(pay, sayable, best)
        why = "the gold is not what is to be said"
        return (report(REFUSED_GOLD, sample, len(sayable), *found, reason=why),)

    def _some(self, pay: Pay, cases: Sequence[Case], best: Mapping[int, float]) -> list[Finding]:
        top = usual(list(best.values())) if best else 0.0
        ceiling = max((*best.values(), declared(pay.sample)) if top <= 0 else (top,))
        in_range = 0 < top <= declared(pay.sample) + 1e-9
        refused = [
            case
            for case in cases
            if best[case.task.index] <= pay.idle(case) + NONE * ceiling
            or (in_range and best[case.task.index] < SHORT_OF * top)
            or (pay.is_scrap(case) and is_by_reply(pay, case))
        ]
        if len(refused) < max(min(FEWEST - 1, len(cases)), SHARE * len(cases)) or not refused:
            return []
        otherwise = any(best[each.task.index] < (each.best or 0.0) for each in refused)
        how = (
            "said as other tasks' golds are paid" if otherwise else "in none of the wordings tried"
        )
        is_paid = all((pay.best(each) or 0.0) > 0 for each in refused)
        does = "earns no more than a wrong answer" if is_paid else "is not paid as an answer"
        return [
            finding(
                REFUSED_GOLD,
                pay,
                f"the gold {does} on {len(refused)} of {len(cases)} tasks, {how}",
                [(case, self._said(cases, case)) for case in refused],
            )
        ]

    def _said(self, cases: Sequence[Case], case: Case) -> str:
        """The gold in the words that should have earned."""
        plain = [reply for _, reply in plainly([case], usual_frame(cases))]
        return next(iter(plain), case.said or "")

    def _parts(self, pay: Pay, cases: Sequence[Case], best: Mapping[int, float]) -> list[Finding]:
        """Parts that were each paid, and never together."""
        weights = {each.name: each.weight for each in pay.sample.environment.rewards}
        seen: dict[str, float] = defaultdict(float)
        most: dict[int, float] = defaultdict(float)
        for each, tried in pay.told.items():
            if tried.reward is not None:
                most[each.index] = max(most[each.index], tried.reward)
            for name, value in tried.parts.items():
                if value is not None:
                    seen[name] = max(seen[name], min(value, 1.0) * max(0.0, weights.get(name, 0)))
        total = sum(seen.values())
        short = [
            case
            for case in cases
            if max(best[case.task.index], most[case.task.index]) < SHORT_OF * total
        ]
        if len(seen) < 2 or not short or len(short) < len(cases):
            return []
        return [
            finding(
                REFUSED_GOLD,
                pay,
                f"the gold earns {best[short[0].task.index]:g} where the parts pay {total:g} one "
                f"by one, and no reply earned them together, on {len(short)} of {len(cases)} tasks",
                [(case, case.said or "") for case in short],
            )
        ]


Frame = tuple[str, str]


def marks(frame: Frame) -> Frame:
    """Quotes are of the gold's kind, and spaces of nobody's."""
    before, behind = (re.sub(r"[\s\"']", "", each) for each in frame)
    return before, behind


def usual_frame(cases: Sequence[Case]) -> Frame | None:
    """The form that golds earn in: none, or one that is asked for; None when there is neither."""
    frames = [ends for case in cases if (case.best or 0) > 0 and (ends := frame(case)) is not None]
    counts = Counter(map(marks, frames))
    enough = max(FEWEST - 1, SHARE * len(cases))
    usual = [ends for ends in dict.fromkeys(frames) if counts[marks(ends)] >= enough]
    asked = [ends for ends in usual if shown_to(cases, ends)]
    return next(iter(asked or [ends for ends in usual if marks(ends) == ("", "")]), None)


def shown_to(cases: Sequence[Case], ends: Frame) -> bool:
    return all(is_shown(" ".join(ends), request_of(case.task)) for case in cases)


def plainly(cases: Sequence[Case], asked: Frame | None) -> list[tuple[Case, str]]:
    """Golds that earn in a form that nobody asked for, said in the one that others earn in."""
    if asked is None:
        return []
    return [
        (case, f"{asked[0]}{case.gold.strip()}{asked[1]}")
        for case in cases
        if case.gold is not None
        and (ends := frame(case)) is not None
        and marks(ends) != marks(asked)
        and not shown_to([case], ends)
    ]


def is_by_reply(pay: Pay, case: Case) -> bool:
    """Whether the gold alone should have earned what it did not: no turn and no tool would."""
    environment = pay.sample.environment
    if not (environment.tools or environment.episodic):
        return not asks(CODE, case.task)
    tried = pay.tried(case, case.said or "")
    if tried is None:
        return False
    paid = {name for name, value in tried.parts.items() if value}
    unpaid = {each.name for each in environment.rewards if each.weight > 0} - paid
    return bool(unpaid) and pay.sample.alone.issuperset(unpaid)


def is_sayable(sample: Sample, case: Case) -> bool:
    """Whether the gold is what the reply should be; with tools or turns, it may not be enough."""
    if sample.environment.tools or sample.environment.episodic:
        return case.best is not None and case.best > 0
    is_run = asks(CODE, case.task)
    return not is_run or (case.best is not None and case.best > 0)
