"""Fixed texts that are paid whatever the task asks, and readers that pay for what they cannot read.

The two look alike: a text about nothing earns. They differ in whether a wrong answer in good
form earns too. If it does, nobody looks at the answer; if it does not, it is being unreadable
that earns. And where the form is checked well, the text that earns on every task is an answer
to another one.
"""

from collections.abc import Sequence

from envwright.finding import Finding, Severity
from envwright.probe.case import Case, Sample
from envwright.probe.reply.elsewhere import (
    elsewhere,
    label_of,
    said_elsewhere,
    shared_by_all,
)
from envwright.probe.reply.pay import (
    EARNS,
    FULL,
    HALF,
    MANY,
    Baits,
    Pay,
    Tally,
    finding,
    named,
    numbered,
    report,
    tally,
    tries_of,
)
from envwright.probe.reply.request import OPEN, asks
from envwright.probe.reply.spray import alone
from envwright.probe.reply.stock import Kind, in_form, stock
from envwright.probe.reply.wording import IDLE, answerable, framed, is_gold
from envwright.probe.rule import Check, Extent, Report, Rule
from envwright.probe.scoring import Told, Try

CONSTANT = Rule(
    id="EW303",
    name="pays-for-a-constant",
    defect="pays-for-a-constant",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="Labels, stock phrases, prose about nothing, and the demanded forms without content; "
    "two golds of the set, one that is made of the pieces of several, and the words that all of "
    "them share.",
    hit="One of them earns at least half of what the gold earns on 60 % of the tasks for which it "
    "is wrong, the same on nearly all of them or 75 %; one in good form, on 90 % of the tasks "
    "with whose gold it has nothing in common. The shared words, if they earn half on 90 % of "
    "the tasks, and other tasks' golds no more and no less than they.",
    why="One text for all tasks is the first thing that a policy finds, and the last.",
    exempt="Tasks whose gold the text is or holds: what the labels' distribution explains is no "
    "fault of the reward. A small share for the form. Golds of the set that earn all, where one "
    "that is made up does not, or where many answers may be right.",
)

FAILS_OPEN = Rule(
    id="EW311",
    name="fails-open",
    defect="fails-open",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="Words without an answer in them, broken JSON, tags, code and numbers, bare and in the "
    "form that is asked for; beside them wrong answers in good form.",
    hit="What cannot be read earns on 60 % of the tasks, and a wrong answer that can be read "
    "does not.",
    why="The policy learns to break the grader.",
    exempt="Rewards that pay for wrong answers in good form as well: they read nothing at all.",
)

MOST_CASES = 40
FLAT = 0.9
"""Of the tasks on which a part of the reward must be the same to be a constant's."""
SAME = 0.02
FEWEST_UNLIKE = 5
CLEARLY = 0.15


def texts(case: Case) -> dict[str, str]:
    return {label: each.reply for label, each in stock(case).items()}


class Constant:
    rules: tuple[Rule, ...] = (CONSTANT, FAILS_OPEN)

    def tries(self, sample: Sample) -> Sequence[Try]:
        formed, shared = self._formed(sample), shared_in_form(sample)

        def said(case: Case) -> dict[str, str]:
            elsewhere = (*formed(case).values(), *shared(case).values())
            wrong = (*self._wrong(sample, case), *elsewhere)
            return numbered((*texts(case).values(), "", *wrong))

        return tries_of(answerable(sample, MOST_CASES), said)

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        pay, cases = Pay(sample, told, of_all=True), answerable(sample, MOST_CASES)
        tallies = tally(cases, texts, lambda case, reply: at_least(pay, case, reply, HALF))
        paid = [each for each in tallies if is_paid(pay, each, len(cases))]
        tried = max((each.of for each in tallies), default=0)
        if self._is_silence(pay, cases, paid):
            paid = []
        opens = bool(paid) and self._is_open(pay, cases, paid)
        constant = [] if opens else paid or self._answers(pay, cases) or self._shared(pay, cases)
        return (
            report(CONSTANT, sample, tried, *self._constant(pay, constant), reason="no tasks"),
            report(FAILS_OPEN, sample, tried, *self._opens(pay, paid if opens else []))
            if any(map(is_gold, cases))
            else Report(
                rule=FAILS_OPEN.id,
                extent=Extent.NO_GOLD,
                reason="without gold a wrong answer in good form is not known",
                of=sample.total,
            ),
        )

    def _wrong(self, sample: Sample, case: Case) -> list[str]:
        """Wrong answers in good form."""
        return alone(sample, case) if is_gold(case) else []

    def _formed(self, sample: Sample) -> Baits:
        golds, made = elsewhere(sample)
        texts = [*golds, *([] if made is None else [made])]
        return lambda case: {
            label: framed(case, text) for label, text in said_elsewhere(texts, case).items()
        }

    def _answers(self, pay: Pay, cases: Sequence[Case]) -> list[Tally]:
        """Answers to other tasks that earn for their form: a part, or all if any such does."""
        _, made = elsewhere(pay.sample)

        def earns(case: Case, reply: str) -> bool | None:
            share = pay.share(case, reply)
            if share is not None and share >= FULL and asks(OPEN, case.task):
                return None
            return None if share is None else share >= HALF

        tallies = tally(cases, self._formed(pay.sample), earns)
        paid = [each for each in tallies if each.of >= FEWEST_UNLIKE and each.reaches(FLAT, 0)]
        whole = [each for each in paid if mean_share(pay, each) >= FULL]
        is_made_up = made is not None and label_of(made) in {each.label for each in paid}
        return paid if is_made_up or not whole else []

    def _shared(self, pay: Pay, cases: Sequence[Case]) -> list[Tally]:
        """What all golds say alike, where the rest of a gold is worth nothing on another task:
        who compares texts pays for that rest, or takes something off for it."""

        def earns(case: Case, reply: str) -> bool | None:
            share, silence = pay.share(case, reply), pay.share(case, "")
            others = [pay.share(case, other) for other in self._wrong(pay.sample, case)]
            if share is None or not others:
                return None
            alike = all(other is not None and abs(other - share) <= SAME for other in others)
            return share >= HALF and (silence or 0.0) < HALF and alike

        tallies = tally(cases, shared_in_form(pay.sample), earns)
        return [each for each in tallies if each.of >= FEWEST_UNLIKE and each.reaches(FLAT, 0)]

    def _is_open(self, pay: Pay, cases: Sequence[Case], paid: Sequence[Tally]) -> bool:
        """It is being unreadable that is paid: being wrong is not."""
        wrong = [
            share >= HALF
            for case in cases
            for reply in self._wrong(pay.sample, case)
            if (share := pay.share(case, reply)) is not None
        ]
        if not wrong or sum(wrong) >= HALF * len(wrong):
            return False
        kinds = kinds_of(paid)
        if kinds <= {Kind.SKELETON, Kind.BROKEN}:
            return Kind.BROKEN in kinds
        labels = {each.label for each in paid}
        bare = sum(repr(text) in labels for text in IDLE)
        formed = sum(in_form(text) in labels for text in IDLE)
        return max(bare, formed) > len(IDLE) // 2

    def _is_silence(self, pay: Pay, cases: Sequence[Case], paid: Sequence[Tally]) -> bool:
        """Silence is paid, and words are not or less: what else is paid looks empty to its reader,
        or has few faults."""
        shares = [pay.share(case, "") or 0.0 for case in cases]
        if not paid or sum(share >= HALF for share in shares) < MANY * len(shares):
            return False
        words = [each for each in paid if kinds_of([each]) & {Kind.PROSE, Kind.PHRASE, Kind.LONG}]
        most = max((mean_share(pay, each) for each in words), default=0.0)
        return most + CLEARLY <= sum(shares) / len(shares)

    def _constant(self, pay: Pay, paid: Sequence[Tally]) -> list[Finding]:
        if not paid:
            return []
        best = max(paid, key=lambda each: (mean_share(pay, each), len(each.hits)))
        share = max(mean_share(pay, best), of_gold(pay, best))
        return [
            finding(
                CONSTANT,
                pay,
                f"{best.label} earns {share:.0%} of what the gold earns on {len(best.hits)} of "
                f"{best.of} tasks for which it is wrong",
                best.hits,
                Severity.FAIL if share >= EARNS else Severity.WARN,
            )
        ]

    def _opens(self, pay: Pay, paid: Sequence[Tally]) -> list[Finding]:
        if not paid:
            return []
        # A label may be unreadable too, but words about nothing always are.
        telling = [each for each in paid if kinds_of([each]) & {Kind.PROSE, Kind.BROKEN}] or paid
        labels, first = named([each.label for each in telling[:4]]), telling[0]
        return [
            finding(
                FAILS_OPEN,
                pay,
                f"what cannot be read is paid ({labels}), on {len(first.hits)} of {first.of} "
                "tasks, and a wrong answer in good form is not",
                first.hits,
            )
        ]


def shared_in_form(sample: Sample) -> Baits:
    text = shared_by_all(sample)
    return lambda case: {} if text is None else {label_of(text): framed(case, text)}


def at_least(pay: Pay, case: Case, reply: str, least: float) -> bool | None:
    share = pay.share(case, reply)
    return None if share is None else share >= least


def mean_share(pay: Pay, each: Tally) -> float:
    shares = [pay.share(case, reply) or 0.0 for case, reply in each.hits]
    return sum(shares) / max(1, len(shares))


def is_paid(pay: Pay, each: Tally, cases: int) -> bool:
    """Like an answer, or the same half of it nearly everywhere: chance pays here and there."""
    if not each.reaches(MANY, cases):
        return False
    shares = [pay.share(case, reply) or 0.0 for case, reply in each.hits]
    if sum(share >= EARNS for share in shares) >= MANY * each.of:
        return True
    usual = max(set(shares), key=shares.count)
    alike = sum(abs(share - usual) <= SAME for share in shares)
    return alike >= FLAT * each.of


def kinds_of(paid: Sequence[Tally]) -> set[Kind]:
    kinds: set[Kind] = set()
    for each in paid:
        case, _ = each.hits[0]
        kinds.add(stock(case)[each.label].kind)
    return kinds


def of_gold(pay: Pay, each: Tally) -> float:
    """The mean share of what the gold did earn, however little that is."""
    pairs = [(pay.reward(case, reply) or 0.0, pay.best(case) or 0.0) for case, reply in each.hits]
    shares = [reward / best for reward, best in pairs if best > 0]
    return min(1.0, sum(shares) / len(shares)) if shares else 0.0
