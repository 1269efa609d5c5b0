"""One check's answer: reports in, `CheckResult` out. Pure.

What was looked for is said with what it was out of; what could not run, with why. Nothing
is counted as looked at that was not.
"""

from collections.abc import Iterable, Mapping, Sequence

from envwright.audit.points import AT_BEST_WARN, band_of, is_blocker, score_of
from envwright.audit.scorecard import WEIGHTS, CheckResult, Status
from envwright.finding import Finding, Severity
from envwright.probe.rule import Check, Extent, Report, Rule
from envwright.text import sentence

Rules = Mapping[str, Rule]
LEFT_OUT = {Extent.UNFINISHED: "Not finished", Extent.RAN: "In part"}
TASKS = "tasks"
"""Of these alone there may be endless many."""
SHOWN_RULES = 12
"""Rules that a sentence names before it counts the rest."""


def not_applicable(check: Check, why: str) -> CheckResult:
    return CheckResult(
        check=check,
        status=Status.NOT_APPLICABLE,
        score=None,
        weight=WEIGHTS[check],
        justification=why,
    )


def unfinished(check: Check, why: str) -> CheckResult:
    """Nothing of it could be done."""
    return CheckResult(
        check=check,
        status=Status.INCOMPLETE,
        score=None,
        weight=WEIGHTS[check],
        justification=why,
    )


def check_of(
    check: Check,
    reports: Sequence[Report],
    rules: Rules,
    *,
    said: str = "",
    no_gold: str | None = None,
) -> CheckResult:
    """What the reports of a check's rules come to; `said` is what was measured beside them.

    `no_gold` says why there is none: what needs it could not run, so that the check is at
    best a WARN.
    """
    own = [each for each in reports if rules[each.rule].check is check]
    if not any(each.extent is Extent.RAN or each.findings for each in own):
        return idle(check, own, rules, said)
    findings = tuple(sorted_findings(own))
    counted = [each for each in findings if each.severity is not Severity.INFO]
    score = score_of(findings)
    blind = [each for each in own if each.extent is Extent.NO_GOLD]
    if no_gold is not None and blind:
        score = min(score, AT_BEST_WARN)
    broken = any(each.extent is Extent.UNFINISHED for each in own)
    status = band_of(score)
    if broken and status is not Status.FAIL:
        status = Status.INCOMPLETE
    sentences = [
        *([said] if said else []),
        looked_at(own),
        found(counted, len(findings)),
        *left_out(own, rules, no_gold),
    ]
    return CheckResult(
        check=check,
        status=status,
        score=None if status is Status.INCOMPLETE else score,
        weight=WEIGHTS[check],
        justification=" ".join(sentences),
        findings=findings,
    )


def idle(check: Check, own: Sequence[Report], rules: Rules, said: str) -> CheckResult:
    """No rule of the check could run."""
    open_ = [each for each in own if each.extent in (Extent.UNFINISHED, Extent.NO_GOLD)]
    if open_:
        before = [said] if said else []
        return unfinished(check, " ".join([*before, "Nothing ran.", *left_out(own, rules, None)]))
    why = "; ".join(dict.fromkeys(each.reason for each in own if each.reason))
    return not_applicable(check, sentence(why or "no rule of it applies here"))


def sorted_findings(reports: Sequence[Report]) -> list[Finding]:
    order = [Severity.FAIL, Severity.WARN, Severity.INFO]
    found = [finding for report in reports for finding in report.findings]
    return sorted(found, key=lambda each: (order.index(each.severity), each.rule))


def looked_at(reports: Sequence[Report]) -> str:
    """How many rules ran, and on how many of how many."""
    ran = [each for each in reports if each.extent is Extent.RAN]
    whole = f"{len(ran)} of {len(reports)} rules ran"
    extents: dict[tuple[str, int, int | None], int] = {}
    for each in ran:
        if each.tried:
            place = (each.unit, each.tried, each.of)
            extents[place] = extents.get(place, 0) + 1
    if not extents:
        return f"{whole}."
    parts = [
        f"{count} on {extent_text(*place)}"
        for place, count in sorted(extents.items(), key=lambda item: -item[1])
    ]
    return f"{whole}: {', '.join(parts)}."


def extent_text(unit: str, tried: int, of: int | None) -> str:
    if of is None and unit != TASKS:
        return f"{tried:,} {unit}"
    return f"{tried:,} of {'endless' if of is None else f'{of:,}'} {unit}"


def found(counted: Sequence[Finding], findings: int) -> str:
    if not findings:
        return "Nothing was found."
    by_rule = list(dict.fromkeys(each.rule for each in counted))
    blockers = list(dict.fromkeys(each.rule for each in counted if is_blocker(each)))
    words = f"Found: {', '.join(by_rule)}." if by_rule else "Found: notes only."
    return f"{words} Proven to fail: {', '.join(blockers)}." if blockers else words


def left_out(reports: Sequence[Report], rules: Rules, no_gold: str | None) -> list[str]:
    """What could not run, and why."""
    blind = [each for each in reports if each.extent is Extent.NO_GOLD]
    said: list[str] = []
    if blind:
        why = f" ({no_gold})" if no_gold else ""
        said.append(f"Could not run without a gold{why}: {named(blind, rules)}.")
    for extent, words in LEFT_OUT.items():
        for reason, of_it in by_reason(each for each in reports if each.extent is extent):
            if reason or extent is not Extent.RAN:
                why = f" ({reason})" if reason else ""
                said.append(f"{words}{why}: {named(of_it, rules)}.")
    idle = by_reason(each for each in reports if each.extent is Extent.NOT_APPLICABLE)
    if idle:
        parts = [f"{', '.join(each.rule for each in of_it)} ({reason})" for reason, of_it in idle]
        said.append(f"Not applicable: {'; '.join(parts)}.")
    return said


def by_reason(reports: Iterable[Report]) -> list[tuple[str, list[Report]]]:
    reasons: dict[str, list[Report]] = {}
    for each in reports:
        reasons.setdefault(each.reason, []).append(each)
    return [*reasons.items()]


def named(reports: Sequence[Report], rules: Rules) -> str:
    shown = [title(each.rule, rules) for each in reports[:SHOWN_RULES]]
    more = len(reports) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def title(rule: str, rules: Rules) -> str:
    return f"{rule} {rules[rule].name}"
