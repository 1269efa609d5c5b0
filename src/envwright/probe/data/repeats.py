"""EW201 to EW203: tasks that are there twice, that contradict each other, or nearly repeat."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from envwright.environment import Environment
from envwright.finding import Severity
from envwright.probe.case import Case
from envwright.probe.data.serial import tell_the_gold, without_serials
from envwright.probe.data.text import (
    answer_form,
    asked,
    cite,
    dig,
    folded,
    gold_field,
    leaves,
    normalised,
)
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.scoring import Told, Try
from envwright.record import items

DUPLICATES = Rule(
    id="EW201",
    name="duplicate-tasks",
    defect="duplicate-tasks",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="Tasks are compared without their index, and by their prompt and gold but for case, "
    "white space, closing punctuation and a running number or id that tells nothing.",
    hit="A twentieth of the tasks or more, and three at least, are copies of others.",
    why="The mean counts them twice, and training repeats them.",
    exempt="Tasks from one template that ask for different things; tasks whose prompt is the "
    "same by design, because tools, turns or hidden state tell them apart.",
)
CONTRADICTIONS = Rule(
    id="EW202",
    name="contradictory-tasks",
    defect="contradictory-tasks",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="The golds of tasks with the same prompt are compared.",
    hit="The same question has two golds, and neither task accepts the other's.",
    why="Whatever the model says, it is wrong once.",
    exempt="A task that accepts several answers; long references, of which many are right; "
    "prompts that are the same by design.",
)
NEAR = Rule(
    id="EW203",
    name="near-duplicate-tasks",
    defect="duplicate-tasks",
    check=Check.INTEGRITY,
    severity=Severity.INFO,
    tries="Prompts are compared by the words that they share (MinHash).",
    hit="Pairs of long prompts that differ in a few words and have the same gold.",
    why="They may be one task in two wordings: worth a look, no fault as such.",
    exempt="Short prompts and templates.",
)
GOOD_PART = 0.05
FEWEST_COPIES = 3
LONG_GOLD = 60
"""Characters: above that a gold is a reference, one text among many that are right."""
ALIKE = 0.9
FEWEST_WORDS = 25


def same_by_design(cases: Sequence[Case]) -> bool:
    """Whether so few prompts serve so many golds that the prompt is not what is asked."""
    prompts = {folded(asked(case.task)) for case in cases}
    golds = {case.gold for case in cases}
    return 5 * len(prompts) <= len(cases) and len(golds) > len(prompts)


def told_apart_elsewhere(environment: Environment | None) -> bool:
    """Whether tools or other players may make tasks of one prompt different."""
    return bool(environment and (environment.tools or len(environment.seats) > 1))


def duplicate_hits(cases: Sequence[Case], environment: Environment | None) -> Iterator[Hit]:
    by_key: dict[str, list[Case]] = defaultdict(list)
    by_text: dict[tuple[str, str], list[Case]] = defaultdict(list)
    golds = [case.gold for case in cases]
    texts = without_serials([asked(case.task) for case in cases], golds)
    elsewhere = told_apart_elsewhere(environment) and not tell_the_gold(texts, golds)
    elsewhere = elsewhere or same_by_design(cases)
    for case, text in zip(cases, texts, strict=True):
        by_key[case.task.key].append(case)
        if case.gold is not None and not elsewhere:
            by_text[text, answer_form(case.gold)].append(case)
    groups = [group for group in (by_text or by_key).values() if len(group) > 1]
    same_rows = [group for group in by_key.values() if len(group) > 1]
    if extra(same_rows) > extra(groups):
        groups = same_rows
    copies = extra(groups)
    if not copies:
        return
    share = copies / len(cases)
    largest = max(groups, key=len)
    exact = extra(same_rows)
    how = "row by row" if exact == copies else "but for a number or id, case, spaces or full stops"
    yield Hit(
        f"{copies} of {len(cases)} tasks ({share:.0%}) are copies of others, {how}; "
        f"one is there {len(largest)} times",
        [cite(case) for case in largest[:2]],
        Severity.INFO if share < GOOD_PART or copies < FEWEST_COPIES else None,
    )


def extra(groups: Sequence[Sequence[Case]]) -> int:
    return sum(len(group) - 1 for group in groups)


def contradictory_groups(cases: Sequence[Case]) -> list[list[Case]]:
    """Tasks with one prompt and golds that have nothing in common."""
    field = gold_field(list(cases))
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.gold is not None and case.gold.strip():
            groups[folded(asked(case.task))].append(case)
    return [
        disagreeing
        for group in groups.values()
        if len(group) > 1 and (disagreeing := disagreeing_in(group, field))
    ]


def disagreeing_in(group: list[Case], field: str | None) -> list[Case]:
    """Two of them that disagree; none when all agree."""
    distinct = {answer_form(case.gold or ""): case for case in reversed(group)}
    for one, other in combinations(distinct.values(), 2):
        if not agree(one, other, field):
            return [one, other]
    return []


def agree(one: Case, other: Case, field: str | None) -> bool:
    """The same answer, or one that the other's row names too."""
    if answer_form(one.gold or "") == answer_form(other.gold or ""):
        return True
    return accepts(one, other, field) or accepts(other, one, field)


def accepts(case: Case, other: Case, field: str | None) -> bool:
    wanted = answer_form(other.gold or "")
    values = [v for path, v in leaves(case.task.row) if path not in ("prompt", "question")]
    if field is not None:
        values.append(dig(case.task.row, field))
    listed = [each for value in values for each in items(value)]
    return any(isinstance(each, str) and answer_form(each) == wanted for each in listed)


def contradiction_tries(cases: Sequence[Case]) -> list[Try]:
    """Each one's best wording said to the other: what is paid there is no contradiction."""
    return [
        Try(one.task.index, other.said)
        for group in contradictory_groups(cases)[:50]
        for one, other in ((group[0], group[1]), (group[1], group[0]))
        if other.said is not None
    ]


def contradiction_hits(
    cases: Sequence[Case], environment: Environment | None, told: Told
) -> Iterator[Hit]:
    groups = [g for g in contradictory_groups(cases) if not paid_both(g, told)]
    if not groups or same_by_design(cases):
        return
    involved = sum(len(g) for g in groups)
    elsewhere = told_apart_elsewhere(environment)
    long = all(len(case.gold or "") > LONG_GOLD for g in groups for case in g)
    one, other = groups[0][:2]
    distinct = len({folded(asked(case.task)) for case in cases})
    yield Hit(
        f"{len(groups)} of {distinct} questions are asked with golds that contradict each other: "
        f"{quote_gold(one)} and {quote_gold(other)} ({involved} tasks at least)",
        [cite(one), cite(other)],
        Severity.INFO if elsewhere or long else None,
    )


def paid_both(group: list[Case], told: Told) -> bool:
    """Whether each was seen to pay for the other's gold as for its own."""
    one, other = group[:2]
    return any(
        tried.reward is not None and tried.reward >= (a.best or 1.0) > 0
        for a, b in ((one, other), (other, one))
        if b.said is not None and (tried := told.get(Try(a.task.index, b.said))) is not None
    )


def quote_gold(case: Case) -> str:
    return repr((case.gold or "")[:40])


def near_hits(cases: Sequence[Case]) -> Iterator[Hit]:
    """Pairs among the long prompts; a template's own words do not count."""
    from envwright.probe.likeness import near_pairs  # noqa: PLC0415 - quick to start

    texts = {i: normalised(asked(case.task)) for i, case in enumerate(cases)}
    long = {i: text for i, text in texts.items() if len(text.split()) >= FEWEST_WORDS}
    pairs = [
        (cases[a], cases[b])
        for a, b in near_pairs(long, ALIKE)
        if texts[a] != texts[b] and cases[a].gold is not None and same_gold(cases[a], cases[b])
    ]
    if pairs and len(pairs) <= len(cases):
        one, other = pairs[0]
        yield Hit(
            f"{len(pairs)} pairs of tasks nearly repeat each other and have the same gold",
            [cite(one), cite(other)],
        )


def same_gold(one: Case, other: Case) -> bool:
    return answer_form(one.gold or "") == answer_form(other.gold or "")
