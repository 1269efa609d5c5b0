"""EW401 not-deterministic, EW402 remembers: the same reply, scored again.

The same tries are scored twice more in the process that has seen all others, once in
the reverse order, and three times in a fresh process with other hashes, which begins at their
end: what is kept from the first time on is then another first time. Where anything
differs, a third process is led through the very history of the second: if it says the same,
the score depends on what was scored before; if not, on chance, the clock or the hashes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envwright.finding import Finding, Severity
from envwright.probe.case import Sample
from envwright.probe.evidence import after_others, again_and_again, finding, quoted, value_of
from envwright.probe.rule import Check, Extent, Report, Rule
from envwright.probe.scoring import SLACK, Scorer, Told, Tried, Try, is_same

NOT_DETERMINISTIC = Rule(
    id="EW401",
    name="not-deterministic",
    defect="not-deterministic",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="gold, wrong, partly right and odd replies again, in the same process and in fresh "
    "ones with another PYTHONHASHSEED",
    hit="the same reply to the same task earns differently, and no history explains it",
    why="the model learns noise, and two measurements cannot be compared",
    exempt="rewards that ask a judge",
)
REMEMBERS = Rule(
    id="EW402",
    name="remembers",
    defect="remembers",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="gold, wrong and odd replies again, in another order, and in a process led through "
    "the same history",
    hit="the same reply to the same task earns differently after other replies were scored",
    why="the model is paid by the order of the batch",
    exempt="rewards that ask a judge",
)
MOST_TRIES = 60

Pass = Sequence[Tried | None]

OF_OTHERS = "in a process that has scored other replies before and in a fresh one"
MOST_OTHERS = 6


@dataclass(frozen=True, slots=True)
class Repeated:
    """What the same tries earned, pass after pass."""

    tries: tuple[Try, ...]
    at_first: tuple[Pass, ...]
    """In the process that scored everything else: as told, again, and in reverse order."""
    afresh: tuple[Pass, ...] = ()
    """In a fresh process with other hashes: in reverse order, again, and in order."""
    replayed: tuple[Pass, ...] = ()
    """In a further one, led through the history of the second; only if anything differed."""
    reseeded: bool = False
    """Whether the further one had other hashes yet."""
    why_not: str = ""
    """Why there is no fresh process."""

    def differing(self, *groups: Sequence[Pass]) -> Iterator[tuple[Try, list[Tried]]]:
        """The tries that were not told the same in all of these passes."""
        for place, each in enumerate(self.tries):
            found = [one for group in groups for told in group if (one := told[place]) is not None]
            if any(not is_same(found[0], other) for other in found[1:]):
                yield each, found


def worth_repeating(sample: Sample, told: Told) -> tuple[Try, ...]:
    """Some of what was told: golds, the same words where they are wrong, what earns a part, and
    other replies of many tasks; nothing that ended."""
    golds = [Try(case.task.index, case.said) for case in sample.cases if case.said is not None]
    ended = {each for each, tried in told.items() if tried.ended is not None}
    live = [each for each in told if each not in ended and len(each.reply) < 5000]
    step = max(1, len(live) // MOST_TRIES)
    known = [gold for gold in golds if gold in told and gold not in ended]
    right = {*known}
    words = {each.reply for each in known[: MOST_TRIES // 3]}
    wrong = [each for each in live if each.reply in words and each not in right]
    # Dice may move nothing but what is neither right nor wrong.
    partly = earning_a_part([each for each in live if each not in right], told)
    chosen = [
        *known[: MOST_TRIES // 3],
        *spread(wrong, MOST_TRIES // 6),
        *spread(partly, MOST_TRIES // 6),
        *live[::step],
    ]
    return tuple(dict.fromkeys(chosen))[:MOST_TRIES]


def earning_a_part(tries: Sequence[Try], told: Told) -> list[Try]:
    """Those that earn more than the least on their task, and less than the most."""
    earned: dict[int, list[float]] = {}
    for each, tried in told.items():
        if tried.reward is not None:
            earned.setdefault(each.index, []).append(tried.reward)
    ends = {index: (min(rewards), max(rewards)) for index, rewards in earned.items()}
    return [
        each
        for each in tries
        if (reward := told[each].reward) is not None
        and ends[each.index][0] + SLACK < reward < ends[each.index][1] - SLACK
    ]


def spread(tries: Sequence[Try], most: int) -> Sequence[Try]:
    return tries[:: max(1, len(tries) // most)][:most]


async def repeat(scorer: Scorer, tries: tuple[Try, ...]) -> tuple[Pass, ...]:
    """In reverse order, again, and in order."""
    backwards = [await scorer.again(tries[::-1]), await scorer.again(tries[::-1])]
    return (*(each[::-1] for each in backwards), await scorer.again(tries))


def read_repeats(sample: Sample, repeated: Repeated) -> list[Report]:
    if sample.environment.judges:
        why = "its rewards ask a judge, which may well say something else the next time"
        return [
            Report(rule=rule.id, extent=Extent.NOT_APPLICABLE, reason=why)
            for rule in (NOT_DETERMINISTIC, REMEMBERS)
        ]
    within = [*repeated.differing(repeated.at_first), *repeated.differing(repeated.afresh)]
    across = [*repeated.differing(repeated.at_first, repeated.afresh)]
    hits = within or across
    kind, how = explained(repeated) if hits else (None, "")
    finished = bool(repeated.afresh) and bool(repeated.tries)
    return [
        Report(
            rule=rule.id,
            extent=Extent.RAN if finished or rule is kind else Extent.UNFINISHED,
            reason=repeated.why_not,
            tried=len(repeated.tries),
            of=None,
            unit="replies",
            findings=(differs(rule, sample, hits, how, repeated),) if rule is kind else (),
        )
        for rule in (NOT_DETERMINISTIC, REMEMBERS)
    ]


def explained(repeated: Repeated) -> tuple[Rule, str]:
    """Which of the two it is, and when it shows."""
    follows = bool(repeated.replayed) and not any(
        [*repeated.differing(same)] for same in zip(repeated.afresh, repeated.replayed, strict=True)
    )
    if [*repeated.differing(repeated.afresh)] and follows:
        return REMEMBERS, "by what was scored before it, and so again under the same history"
    if [*repeated.differing(repeated.at_first), *repeated.differing(repeated.afresh)]:
        return NOT_DETERMINISTIC, "when it is scored again in the same process"
    if follows:
        return REMEMBERS, OF_OTHERS
    return NOT_DETERMINISTIC, "in different processes, whose hashes differ"


def differs(
    rule: Rule, sample: Sample, hits: list[tuple[Try, list[Tried]]], how: str, repeated: Repeated
) -> Finding:
    each, found = hits[0]
    case = next(case for case in sample.cases if case.task.index == each.index)
    values = list(dict.fromkeys(map(value_of, found)))
    count = len({hit[0] for hit in hits})
    told = finding(
        rule,
        sample,
        case,
        each.reply,
        statement=f"{quoted(each.reply, 60)} on task {each.index} earns "
        f"{' and '.join(values[:3])} {how}; {count} of {len(repeated.tries)} replies differ",
        quote=values[-1],
    )
    # What is kept may be kept by the task or by the reply.
    alike = [t for t in repeated.tries if (t.index == each.index) != (t.reply == each.reply)]
    others = sorted(alike, key=lambda other: other.index == each.index)
    if how == OF_OTHERS and others:
        command = after_others(sample, each, others[:MOST_OTHERS])
    else:
        command = again_and_again(sample, each)
    return told.model_copy(update={"reproduce": command})
