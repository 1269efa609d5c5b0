"""The question, said back, that is paid.

An echo can only earn by a fault of the reward: whoever picks the answer out of the question
says less than the question. But where the question gives the answer away and the reward
still insists on where it stands, the fault is the question's: then nothing is said here.
"""

from collections import defaultdict
from collections.abc import Sequence

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import (
    EARNS,
    MANY,
    MOST,
    Pay,
    Tally,
    finding,
    report,
    tally,
    tries_of,
)
from envwright.probe.reply.request import system_of
from envwright.probe.reply.wording import answerable, framed, plain, rivals
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

ECHO = Rule(
    id="EW302",
    name="pays-for-echo",
    defect="pays-for-echo",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="The prompt repeated, bare and in the form that the gold is said in; the system prompt "
    "and the prompt; the prompt and a closing remark.",
    hit="One of them earns 70 % of what the gold earns on three quarters of the tasks, and not "
    "only on those that share one gold.",
    why="Copying needs no understanding: a policy that finds it never reads the question.",
    exempt="Tasks whose gold is the prompt itself; questions that give the answer away to a "
    "reward that still tells it from other candidates.",
)

PAID = 0.7
NO_PROMPT = "there is no prompt to repeat, or it is the gold"
MOST_CASES = 100


def echoes(case: Case) -> dict[str, str]:
    prompt = case.task.prompt
    if not prompt.strip() or (case.gold is not None and case.gold.strip() == prompt.strip()):
        return {}
    said = {
        "the prompt": prompt,
        "the prompt in the answer's form": framed(case, prompt),
        "the prompt and a remark": f"{prompt}\nThat is all there is to say.",
    }
    system = system_of(case.task)
    if system.strip():
        said["the system prompt and the prompt"] = f"{system}\n\n{prompt}"
    return {label: text for label, text in said.items() if label == "the prompt" or text != prompt}


def amid(sample: Sample, case: Case) -> str | None:
    """The gold between two others: a reward that pays it searches, one that does not insists."""
    others = rivals(sample, case)
    if case.gold is None or len(others) < 2:
        return None
    return framed(case, f"{others[0]}, {case.gold.strip()}, {others[1]}")


def spread_over_golds(each: Tally, cases: Sequence[Case]) -> float:
    """The mean over golds of how often it earns: reading the first label of an echo is no fault."""
    by_gold: dict[str, list[bool]] = defaultdict(list)
    hit = {case.task.index for case, _ in each.hits}
    for case in cases:
        by_gold[plain(case.gold or case.task.key)].append(case.task.index in hit)
    return sum(sum(found) / len(found) for found in by_gold.values()) / max(1, len(by_gold))


class Echo:
    rules: tuple[Rule, ...] = (ECHO,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        cases = answerable(sample, MOST_CASES)
        mixed = [(case, reply) for case in cases if (reply := amid(sample, case)) is not None]
        return [
            *tries_of(cases, echoes),
            *(Try(case.task.index, reply) for case, reply in mixed),
        ]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        pay, cases = Pay(sample, told), answerable(sample, MOST_CASES)

        def earns(case: Case, reply: str) -> bool | None:
            share = pay.share(case, reply)
            return None if share is None else share >= PAID

        tallies = tally(cases, echoes, earns)
        paid = [
            each
            for each in tallies
            if each.reaches(MOST, len(cases))
            and spread_over_golds(each, cases) >= MANY
            and not self._is_given_away(pay, each)
        ]
        found = [
            finding(
                ECHO,
                pay,
                f"{each.label}, said back, is paid like an answer on {len(each.hits)} of "
                f"{each.of} tasks",
                each.hits,
            )
            for each in paid[:1]
        ]
        tried = max((each.of for each in tallies), default=0)
        return (report(ECHO, sample, tried, *found, reason=NO_PROMPT),)

    def _is_given_away(self, pay: Pay, each: Tally) -> bool:
        """The question holds the gold, and the reward does not pay for it among others."""
        told = [
            share >= EARNS
            for case, _ in each.hits
            if (reply := amid(pay.sample, case)) is not None
            and (case.gold or "").strip() in case.task.prompt
            and (share := pay.share(case, reply)) is not None
        ]
        return len(told) * 2 > len(each.hits) and sum(told) * 2 < len(told)
