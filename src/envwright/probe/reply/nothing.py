"""Silence that is paid."""

from collections.abc import Sequence

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import HALF, MANY, Pay, finding, report, tally, tries_of
from envwright.probe.reply.wording import answerable
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

NOTHING = Rule(
    id="EW301",
    name="pays-for-nothing",
    defect="pays-for-nothing",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="An empty reply, a blank, two newlines.",
    hit="One of them earns at least half of what the gold earns, on 60 % of the tasks.",
    why="Silence is the cheapest reply there is: a policy that finds it stops answering.",
    exempt="Tasks whose gold is itself empty: there silence is what is asked for.",
)

SILENCE = {"an empty reply": "", "a blank": " ", "newlines": "\n\n"}


def silences(case: Case) -> dict[str, str]:
    return SILENCE


class Nothing:
    rules: tuple[Rule, ...] = (NOTHING,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        return tries_of(answerable(sample, 100), silences)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        pay, cases = Pay(sample, told, of_all=True), answerable(sample, 100)

        def earns(case: Case, reply: str) -> bool | None:
            share = pay.share(case, reply)
            return None if share is None else share >= HALF

        tallies = tally(cases, silences, earns)
        paid = [each for each in tallies if each.reaches(MANY, len(cases))]
        found = [
            finding(
                NOTHING,
                pay,
                f"{each.label} is paid like an answer on {len(each.hits)} of {each.of} tasks",
                each.hits,
            )
            for each in paid[:1]
        ]
        tried = max((each.of for each in tallies), default=0)
        return (report(NOTHING, sample, tried, *found, reason="no task could be scored"),)
