"""The right answer that is not paid in full."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from envwright.finding import Finding, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    FEWEST,
    NONE,
    Pay,
    declared,
    finding,
    report,
    tries_of,
    usual,
    without_gold,
)
from envwright.probe.reply.request import CODE, asks
from envwright.probe.reply.wording import is_gold, wordings
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

REFUSED_GOLD = Rule(
    id="EW307",
    name="refuses-gold",
    defect="refuses-gold",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="The gold in every wording that is known, and with a thought or some prose before it.",
    hit="On a tenth of the tasks, and on two at least, it earns no more than words about nothing "
    "or less than three quarters of what other tasks' golds earn; or on all tasks less than "
    "three quarters of what the parts pay one by one, and no reply earns them together.",
    why="The policy is punished for being right, and nothing that it does is worth the maximum.",
    exempt="Golds that are placeholders; golds that cannot be said, because the reply is to be run "
    "or a tool is to be called; tasks that are worth different amounts outside of the "
    "declared range.",
)

SHARE = 0.1
SHORT_OF = 0.75


class RefusedGold:
    rules: tuple[Rule, ...] = (REFUSED_GOLD,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        cases = [case for case in sample.cases if is_gold(case)]
        return tries_of(cases, wordings)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = [case for case in sample.cases if is_gold(case)]
        if not cases:
            return (without_gold(REFUSED_GOLD, sample),)
        sayable = [case for case in cases if is_sayable(sample, case)]
        pay = Pay(sample, told)
        best = {case.task.index: pay.best(case) or 0.0 for case in sayable}
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
        ]
        if len(refused) < max(min(FEWEST - 1, len(cases)), SHARE * len(cases)) or not refused:
            return []
        return [
            finding(
                REFUSED_GOLD,
                pay,
                f"the gold is not paid as an answer on {len(refused)} of {len(cases)} tasks, in "
                "none of the wordings that were tried",
                [(case, case.said or "") for case in refused],
            )
        ]

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


def is_sayable(sample: Sample, case: Case) -> bool:
    """Whether the gold is what the reply should be; with tools or turns, it may not be enough."""
    if sample.environment.tools or sample.environment.episodic:
        return case.best is not None and case.best > 0
    is_run = asks(CODE, case.task)
    return not is_run or (case.best is not None and case.best > 0)
