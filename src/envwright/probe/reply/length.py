"""Words without content that are paid by their number."""

from collections.abc import Sequence
from itertools import chain, pairwise

from envwright.finding import Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.pay import MANY, Pay, Tally, finding, numbered, report, tries_of
from envwright.probe.reply.wording import FILLER, answerable, framed, rivals
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

LENGTH = Rule(
    id="EW309",
    name="pays-for-length",
    defect="pays-for-length",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="A wrong and the right reply after 0, 1, 3, 10, 30 and 100 times the same words: as "
    "prose, as numbered steps, as a thinking block; a wrong one also before the prose.",
    hit="What is earned rises at least twice on that way, never falls before, and by 35 % of what "
    "the gold earns, on 60 % of the tasks. Where the first words take something from it, as they "
    "push the answer from its place, that is counted from there on.",
    why="Rambling is cheap, and it drowns what being right is worth.",
    exempt="A single step, from which on a text is long enough: that is a constant's. A bonus of "
    "less than a third.",
)

TIMES = (0, 1, 3, 10, 30, 100)
GAIN = 0.35
MOST_CASES = 8
CLEARLY = 0.02
STEP = "Step {}: consider the matter from the next side and note what it shows.\n"


def padding(times: int) -> dict[str, str]:
    """Words without content, so many times over."""
    return {
        "prose": FILLER * times,
        "numbered steps": "".join(STEP.format(number) for number in range(1, times + 1)),
        "a thinking block": f"<think>\n{FILLER * times}\n</think>\n" if times else "",
    }


def ladders(sample: Sample, case: Case) -> dict[str, list[str]]:
    """Replies that only grow, by what they grow with and what they end with."""
    other = next(iter(rivals(sample, case, 1)), "purple elephants whisper")
    ends = {"a wrong reply": framed(case, other)}
    if case.said is not None:
        ends["the right reply"] = case.said
    wrong = ends["a wrong reply"]
    before = {
        f"{name} before {what}": [f"{padding(times)[name]}\n{end}".strip() for times in TIMES]
        for what, end in ends.items()
        for name in padding(0)
    }
    behind = [f"{wrong}\n{padding(times)['prose']}".strip() for times in TIMES]
    return {**before, "prose behind a wrong reply": behind}


class Length:
    rules: tuple[Rule, ...] = (LENGTH,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        def grown(case: Case) -> dict[str, str]:
            return numbered(chain.from_iterable(ladders(sample, case).values()))

        return tries_of(answerable(sample, MOST_CASES), grown)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        pay, cases = Pay(sample, told), answerable(sample, MOST_CASES)
        tallies = self._tallies(pay, cases)
        paid = [each for each in tallies if each.reaches(MANY, len(cases))]
        found = [
            finding(
                LENGTH,
                pay,
                f"the more {paid[0].label}, the more it earns, on {len(paid[0].hits)} of "
                f"{paid[0].of} tasks: {self._ladder(pay, paid[0])} at "
                f"{', '.join(map(str, TIMES))} times",
                paid[0].hits,
            )
            for _ in paid[:1]
        ]
        tried = max((each.of for each in tallies), default=0)
        return (report(LENGTH, sample, tried, *found, reason="no task could be scored"),)

    def _tallies(self, pay: Pay, cases: Sequence[Case]) -> list[Tally]:
        hits: dict[str, list[tuple[Case, str]]] = {}
        counts: dict[str, int] = {}
        for case in cases:
            for label, replies in ladders(pay.sample, case).items():
                shares = [pay.share(case, reply) for reply in replies]
                known = [share for share in shares if share is not None]
                if len(known) < len(shares):
                    continue
                counts[label] = counts.get(label, 0) + 1
                if rises(known) or rises(known[1:]):
                    hits.setdefault(label, []).append((case, replies[3]))
        return [Tally(label, tuple(hits.get(label, ())), of) for label, of in counts.items()]

    def _ladder(self, pay: Pay, each: Tally) -> str:
        case, _ = each.hits[0]
        replies = ladders(pay.sample, case)[each.label]
        return ", ".join(f"{pay.reward(case, reply):g}" for reply in replies)


def rises(shares: Sequence[float]) -> bool:
    """Step by step up to its highest place; a cap on length may take it down again."""
    top = max(range(len(shares)), key=lambda place: shares[place])
    steps = [later - sooner for sooner, later in pairwise(shares[: top + 1])]
    ups = sum(step > CLEARLY for step in steps)
    return ups >= 2 and min(steps, default=0.0) > -CLEARLY and shares[top] - shares[0] >= GAIN
