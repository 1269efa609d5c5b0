"""EW206: one answer that most tasks share; EW207: an endless set that has few tasks."""

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from envwright.finding import Severity
from envwright.probe.case import Case
from envwright.probe.data.text import answer_form, cite, gold_field
from envwright.probe.found import Hit, Place
from envwright.probe.rule import Check, Rule

DOMINATES = Rule(
    id="EW206",
    name="one-answer-dominates",
    defect="one-answer-dominates",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="The golds of all tasks are counted.",
    hit="Of 20 tasks or more, over 60 % have one gold, clearly more than half of them.",
    why="Saying it always is worth most of the reward: the model learns the prior.",
    exempt="Balanced yes/no and few-label tasks; fewer than 20 tasks.",
)
FEW = Rule(
    id="EW207",
    name="few-tasks-in-an-endless-set",
    defect="duplicate-tasks",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="The tasks that were drawn from an endless set are counted without repeats.",
    hit="Fewer than half of them differ.",
    why="A set that calls itself endless is trained on as if nothing came twice.",
    exempt="Tasks whose prompt is the same by design.",
)
FEWEST = 20
SHARE = 0.6
CERTAIN = 0.01
EXACT = 1000
"""Above that many the normal curve is exact enough."""


COUNT = (
    "import sys, json, collections as c; "
    "print(c.Counter(str(json.loads(row)['row'].get(FIELD)) for row in sys.stdin).most_common(3))"
)


def dominating_hits(cases: Sequence[Case], place: Place) -> Iterator[Hit]:
    known = [case for case in cases if case.gold is not None]
    if len(known) < FEWEST:
        return
    counts = Counter(answer_form(case.gold or "") for case in known)
    gold, count = counts.most_common(1)[0]
    share = count / len(known)
    if share <= SHARE or by_chance(count, len(known)) >= CERTAIN:
        return
    # A field that is the same everywhere may be no gold at all; a reward that pays it is proof.
    scored = any((case.best or 0.0) > 0 for case in known)
    if len(counts) == 1 and not scored:
        return
    shown = [case for case in known if answer_form(case.gold or "") == gold]
    yield Hit(
        f"{count} of {len(known)} tasks ({share:.0%}) have the gold {gold[:60]!r}; "
        f"there are {len(counts)} different ones",
        [cite(case, "answer") for case in shown[:2]],
        command=count_command(known, place),
    )


def count_command(known: list[Case], place: Place) -> str | None:
    """Counts the golds of all rows; None where they are not plainly in one field."""
    field = gold_field(known)
    if field is None or "." in field:
        return None
    program = shlex.quote(COUNT.replace("FIELD", repr(field)))
    return f"envwright env tasks {place.command} --json | python3 -c {program}"


def by_chance(count: int, n: int) -> float:
    """How likely a fair coin gives `count` heads or more in `n` throws."""
    if n <= EXACT:
        return sum(math.comb(n, k) for k in range(count, n + 1)) / 2**n
    return 0.5 * math.erfc((count - 0.5 - n / 2) / math.sqrt(n / 2))


def few_hits(cases: Sequence[Case], total: int | None) -> Iterator[Hit]:
    if total is not None or len(cases) < FEWEST:
        return
    distinct = len({case.task.key for case in cases})
    if 2 * distinct < len(cases):
        yield Hit(
            f"it calls itself endless, and {len(cases)} tasks drawn from it are {distinct} "
            "different ones",
            [cite(cases[0])],
        )
