"""One cause, one finding: which rule explains which others.

A reward that pays for whatever is said also pays for silence, echoes, lists and wrong answers.
Its author has one thing to mend, so the root is reported and the rest is noted beside it.
"""

from collections.abc import Collection, Iterable, Sequence

from envwright.finding import Finding, Severity
from envwright.probe.rule import Report

NOTHING, ECHO, CONSTANT, SPRAY, SUBSTRING = "EW301", "EW302", "EW303", "EW304", "EW305"
WRONG, GOLD, EQUIVALENT, LENGTH, MONOTONE = "EW306", "EW307", "EW308", "EW309", "EW310"
FAILS_OPEN = "EW311"
NOT_DETERMINISTIC, REMEMBERS, OUT_OF_RANGE = "EW401", "EW402", "EW407"
DEAD_PART = "EW408"
MISSING_GOLD, ANSWER_IN_PROMPT = "EW204", "EW205"

PAYS = frozenset((NOTHING, ECHO, CONSTANT, SPRAY, SUBSTRING, WRONG, FAILS_OPEN))

REPLIES = PAYS | {GOLD, EQUIVALENT, LENGTH, MONOTONE}

EXPLAINS: dict[str, frozenset[str]] = {
    # What a score depends on beside the reply makes any reply look paid or refused.
    NOT_DETERMINISTIC: REPLIES,
    REMEMBERS: REPLIES,
    # More of it earns more: whatever is long enough is paid.
    LENGTH: PAYS | {GOLD, EQUIVALENT, MONOTONE, OUT_OF_RANGE},
    # Any text is paid: silence, echoes, lists and wrong answers are texts.
    CONSTANT: PAYS - {CONSTANT} | {GOLD, EQUIVALENT, MONOTONE, DEAD_PART},
    # What cannot be read is paid: so are silence, echoes and odd spellings of a wrong answer.
    FAILS_OPEN: PAYS - {FAILS_OPEN} | {GOLD, EQUIVALENT, MONOTONE},
    # What has no bound pays some replies more than the gold.
    OUT_OF_RANGE: frozenset((SPRAY, SUBSTRING, GOLD, EQUIVALENT, MONOTONE)),
    # A gold that nobody can reach is refused.
    MISSING_GOLD: frozenset((GOLD,)),
    # What is in the gold is paid: the empty text is, and so are pieces of it.
    NOTHING: frozenset((WRONG, SPRAY, SUBSTRING, MONOTONE)),
    # The gold is searched for in what the question lists.
    ECHO: frozenset((SUBSTRING, SPRAY, WRONG, MONOTONE, ANSWER_IN_PROMPT)),
    # The gold is searched for in any text.
    SUBSTRING: frozenset((SPRAY, WRONG, MONOTONE)),
    # Any candidate counts: then so do lists with a wrong item.
    SPRAY: frozenset((WRONG, MONOTONE)),
    # What is compared is not the answer: then the way to it is not straight either.
    WRONG: frozenset((MONOTONE,)),
    # What is refused in every form is refused in some.
    GOLD: frozenset((EQUIVALENT, MONOTONE)),
}


SAME_CAUSE = "; of the same cause as "


def settle(reports: Iterable[Report]) -> list[Report]:
    """The same reports; findings that another one explains are notes, and name it."""
    reports = list(reports)
    roots = explained_by({each.rule for each in reports if any(map(is_root, each.findings))})
    return [
        each.model_copy(
            update={"findings": tuple(noted(found, roots[each.rule]) for found in each.findings)}
        )
        if each.rule in roots
        else each
        for each in reports
    ]


def explained_by(found: Collection[str]) -> dict[str, str]:
    """Each rule that another explains, and that one. Going from the roots on: what is
    explained itself explains nothing."""
    explained: dict[str, str] = {}
    for rule, others in EXPLAINS.items():
        if rule in found and rule not in explained:
            explained |= {other: rule for other in others if other not in explained}
    return explained


def noted(finding: Finding, root: str) -> Finding:
    if is_explained(finding):
        return finding
    statement = f"{finding.statement}{SAME_CAUSE}{root}"
    return finding.model_copy(update={"severity": Severity.INFO, "statement": statement})


def is_explained(finding: Finding) -> bool:
    return finding.severity is Severity.INFO and SAME_CAUSE in finding.statement


def is_root(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def left_of(reports: Sequence[Report], kept: Sequence[Report]) -> list[Report]:
    """The reports as they were before they were settled, but for findings that are not in
    `kept`: where a root is gone, what it explained stands for itself again."""
    stand: dict[str, list[Finding]] = {}
    for report in kept:
        stand.setdefault(report.rule, []).extend(report.findings)
    return [
        report.model_copy(
            update={
                "findings": tuple(
                    found
                    for found, as_told in zip(report.findings, told.findings, strict=True)
                    if as_told in stand.get(report.rule, ())
                )
            }
        )
        for report, told in zip(reports, settle(reports), strict=True)
    ]
