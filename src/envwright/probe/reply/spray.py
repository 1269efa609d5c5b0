"""Many candidates in one reply, of which one is right."""

from collections.abc import Sequence

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    EARNS,
    MOST,
    Pay,
    Tally,
    finding,
    named,
    numbered,
    report,
    tries_of,
    without_gold,
)
from envwright.probe.reply.wording import frame, framed, golden, is_answer, rivals
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

SPRAY = Rule(
    id="EW304",
    name="pays-for-spray",
    defect="pays-for-spray",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="The gold and golds of other tasks in one reply, with the right one first, in the "
    "middle and last: in one line, a line each, each in the form that is asked for.",
    hit="The reply earns 75 % of what the gold earns wherever the right one stands, on three "
    "quarters of the tasks.",
    why="Who need not commit to an answer learns to list them.",
    exempt="Candidates that earn alone: several answers are valid. Rewards that read the first or "
    "the last candidate only; partial credit and penalties, where the list earns less.",
)

MOST_CASES = 30

BETWEEN = {"in one line": ", ", "with 'or'": " or ", "a line each": "\n"}


def placed(gold: str, others: Sequence[str]) -> list[list[str]]:
    """The gold at each place among the others."""
    return [[*others[:at], gold, *others[at:]] for at in range(len(others) + 1)]


def sprays(sample: Sample, case: Case) -> dict[str, list[str]]:
    """The replies of each way to list candidates, one for each place of the gold."""
    others = rivals(sample, case)
    if not is_answer(case.gold) or not others or case.gold is None:
        return {}
    orders = placed(case.gold.strip(), others)
    ways = {
        label: [framed(case, mark.join(parts)) for parts in orders]
        for label, mark in BETWEEN.items()
    }
    if frame(case) not in (None, ("", "")):
        ways["each in its form"] = [
            "\n".join(framed(case, part) for part in parts) for parts in orders
        ]
        ways["each in its form, after another"] = [
            "I think it is one of these. " + " ".join(framed(case, part) for part in parts)
            for parts in orders
        ]
    return ways


def alone(sample: Sample, case: Case) -> list[str]:
    return [framed(case, other) for other in rivals(sample, case)]


class Spray:
    rules: tuple[Rule, ...] = (SPRAY,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        def listed(case: Case) -> dict[str, str]:
            replies = (*sprays(sample, case).values(), alone(sample, case))
            return numbered(reply for each in replies for reply in each)

        return tries_of(golden(sample, MOST_CASES), listed)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = golden(sample, MOST_CASES)
        if not cases:
            return (without_gold(SPRAY, sample),)
        pay = Pay(sample, told)
        tallies = self._tallies(pay, [case for case in cases if self._all_wrong(pay, case)])
        paid = [each for each in tallies if each.reaches(MOST, len(cases))]
        tried = max((each.of for each in tallies), default=0)
        found = [
            finding(
                SPRAY,
                pay,
                f"a list of candidates ({named([each.label for each in paid])}) is paid like an "
                f"answer wherever the right one stands in it, on {len(paid[0].hits)} of "
                f"{paid[0].of} tasks",
                paid[0].hits,
            )
            for _ in paid[:1]
        ]
        return (report(SPRAY, sample, tried, *found, reason="no short golds that differ"),)

    def _all_wrong(self, pay: Pay, case: Case) -> bool:
        shares = [pay.share(case, reply) for reply in alone(pay.sample, case)]
        return all(share is not None and share < EARNS for share in shares)

    def _tallies(self, pay: Pay, cases: Sequence[Case]) -> list[Tally]:
        hits: dict[str, list[tuple[Case, str]]] = {}
        counts: dict[str, int] = {}
        for case in cases:
            for label, replies in sprays(pay.sample, case).items():
                shares = [pay.share(case, reply) for reply in replies]
                if None in shares:
                    continue
                counts[label] = counts.get(label, 0) + 1
                if all(share is not None and share >= EARNS for share in shares):
                    hits.setdefault(label, []).append((case, replies[0]))
        return [Tally(label, tuple(hits.get(label, ())), of) for label, of in counts.items()]
