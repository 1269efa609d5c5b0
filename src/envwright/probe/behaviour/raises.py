"""EW403 raises, EW405 ends-its-process: replies that scoring does not survive."""

import re
from collections import defaultdict
from collections.abc import Sequence

from envwright.finding import Finding, Severity
from envwright.probe.behaviour.oddity import Oddity, replies_to
from envwright.probe.case import Case, Sample
from envwright.probe.evidence import finding, quoted, shown
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Tried, Try

RAISES = Rule(
    id="EW403",
    name="raises",
    defect="raises",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="the gold, and replies that are empty, cut off, in another form or plain odd; the gold "
    "with a full stop, with impossible digits, cut off, or as JSON of another kind",
    hit="a reward or metric raises",
    why="the rollout is lost, or silently counts as zero, and the model is not told why",
    exempt="what only an attack would say is reported as info; an episode that refuses a reply "
    "and ends without a reward warns",
)
ENDS = Rule(
    id="EW405",
    name="ends-its-process",
    defect="raises",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="every reply of every probe",
    hit="the process that scores it ends: exit, a signal, out of memory",
    why="a worker dies with every rollout that was in it, whenever a model says this",
)
CASES = 6
"""Tasks to be odd with: what breaks a reader breaks it on most tasks."""
LONG = 10_000
"""Longer replies are tried on the first task alone."""
MOST_FINDINGS = 3
UNTRIED = "rewards that did not run"
WHERE = re.compile(r"\(at [^()]+:\d+\)$")


class Raises:
    rules = (RAISES, ENDS)

    def tries(self, sample: Sample) -> Sequence[Try]:
        return [
            Try(case.task.index, reply)
            for place, case in enumerate(sample.cases[:CASES])
            for _, reply in replies_to(case)
            if place == 0 or len(reply) <= LONG
        ]

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = {case.task.index: case for case in sample.cases}
        raised = [(each, tried) for each, tried in told.items() if is_raised(tried)]
        ended = [(e, tried) for e, tried in told.items() if tried.ended and not tried.late]
        return [
            Report(
                rule=rule.id,
                tried=len(told),
                of=None,
                unit="replies",
                findings=findings_of(rule, sample, cases, hits),
            )
            for rule, hits in ((RAISES, raised), (ENDS, ended))
        ]


def is_raised(tried: Tried) -> bool:
    return (
        tried.problem is not None
        and not tried.not_numbers
        and not tried.problem.startswith(UNTRIED)
    )


def findings_of(
    rule: Rule, sample: Sample, cases: dict[int, Case], hits: list[tuple[Try, Tried]]
) -> tuple[Finding, ...]:
    """One for each way to break, the most ordinary reply first."""
    ways: defaultdict[str, list[tuple[Severity, str, Try]]] = defaultdict(list)
    told: dict[Try, str] = {}
    for each, tried in hits:
        case = cases[each.index]
        severity, words = ordinariness(case, each.reply)
        if rule is ENDS:
            severity = Severity.FAIL
        elif tried.in_episode and severity is Severity.FAIL:
            severity = Severity.WARN
        said = tried.ended or tried.problem or ""
        ways[way_of(said)].append((severity, words, each))
        told.setdefault(each, said)
    order = [Severity.FAIL, Severity.WARN, Severity.INFO]
    worst = sorted(ways.items(), key=lambda way: min(order.index(hit[0]) for hit in way[1]))
    found: list[Finding] = []
    for _, tries in worst[:MOST_FINDINGS]:
        severity, words, each = min(tries, key=lambda hit: order.index(hit[0]))
        said = told[each]
        tasks = len({hit[2].index for hit in tries})
        on = f"on {tasks} tasks" if tasks > 1 else f"on task {each.index}"
        does = done_by(rule, in_episode=any(each == hit and t.in_episode for hit, t in hits))
        found.append(
            finding(
                rule,
                sample,
                cases[each.index],
                each.reply,
                statement=f"{words} {does} {on}: {shown(said, 300)} (reply: {quoted(each.reply)})",
                quote=shown(said, 300),
                severity=severity,
            )
        )
    return tuple(found)


def done_by(rule: Rule, *, in_episode: bool) -> str:
    if rule is ENDS:
        return "ends the process"
    return "ends the episode without a reward" if in_episode else "makes scoring raise"


def way_of(said: str) -> str:
    """What was raised and where: the rest of the words often repeats the reply."""
    where = WHERE.search(said)
    return said if where is None else f"{said.partition(':')[0]} {where.group(0)}"


def ordinariness(case: Case, reply: str) -> tuple[Severity, str]:
    """How bad it is not to survive this reply, and the reply in words."""
    if reply == case.said:
        return Severity.FAIL, "the gold"
    odd: Oddity | None = next((odd for odd, said in replies_to(case) if said == reply), None)
    if odd is None:
        return Severity.WARN, "a reply of another probe"
    return (Severity.FAIL if odd.plausible else Severity.INFO), odd.words
