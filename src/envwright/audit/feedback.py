"""The words under a scorecard: strengths first, then what to fix in order, then what is open.

Written from the results alone, so that the same results read the same. Pure.
"""

from collections.abc import Iterable, Sequence

from envwright.audit.baseline import Accepted
from envwright.audit.checks import Rules
from envwright.audit.points import is_blocker, worst_by_rule
from envwright.audit.scorecard import WEIGHTS, CheckResult, Status, Subject
from envwright.finding import Finding, Severity
from envwright.probe.rule import Check
from envwright.text import sentence

TITLES = {
    Check.INTEGRITY: "it loads and its data hold together",
    Check.PROBLEM_ALIGNMENT: "it asks for what the goal asks for",
    Check.REWARD_DESIGN: "its reward pays for right replies and for nothing else that was tried",
    Check.LATENCY: "it is quick enough to train on",
    Check.ROLLOUT_QUALITY: "its rollouts carry a signal",
    Check.CONTAMINATION: "its tasks are not in the datasets that were named",
}
"""What a PASS means."""
BUT = ", but for what was accepted"
MOST_FIXES = 8
OPENERS = {
    Status.NOT_APPLICABLE: "not looked at",
    Status.INCOMPLETE: "not finished",
}


def feedback_of(
    subject: Subject,
    checks: Sequence[CheckResult],
    rules: Rules,
    accepted: Accepted | None = None,
    notes: Sequence[str] = (),
) -> str:
    """One to three paragraphs; `notes` are what would have to be given to see more."""
    paragraphs = [
        strengths(subject, checks, accepted, rules),
        fixes(checks, rules),
        open_ends(checks, accepted, notes),
    ]
    return "\n\n".join(each for each in paragraphs if each)


def strengths(
    subject: Subject, checks: Sequence[CheckResult], accepted: Accepted | None, rules: Rules
) -> str:
    good = [each for each in checks if each.status is Status.PASS]
    if not good:
        return f"{subject.name}: no check passed."
    borne = {
        rules[f.rule].check for f in (accepted.findings if accepted else ()) if f.rule in rules
    }
    said = "; ".join(
        f"{TITLES[each.check]}{BUT if each.check in borne else ''} ({each.check}, {each.score:.1f})"
        for each in good
    )
    return f"{subject.name}: {said}."


def fixes(checks: Sequence[CheckResult], rules: Rules) -> str:
    """What costs most first; of equal cost, what weighs more, and the reward before its package."""
    weighed = [
        (each, result)
        for result in checks
        for each in worst_by_rule(result.findings)
        if each.severity is not Severity.INFO
    ]
    weighed.sort(
        key=lambda pair: (
            urgency(pair[0]),
            -WEIGHTS[pair[1].check],
            pair[1].check is not Check.REWARD_DESIGN,
        )
    )
    if not weighed:
        return ""
    lines = [fix(finding, rules) for finding, _ in weighed[:MOST_FIXES]]
    more = len(weighed) - len(lines)
    rest = f" {more} more are listed under their checks." if more else ""
    opener = "Fix first" if is_blocker(weighed[0][0]) else "Look at"
    return f"{opener}: {' Then: '.join(lines)}{rest}"


def urgency(finding: Finding) -> int:
    if is_blocker(finding):
        return 0
    return 1 if finding.severity is Severity.FAIL else 2


def fix(finding: Finding, rules: Rules) -> str:
    rule = rules.get(finding.rule)
    name = f" {rule.name}" if rule else ""
    said = sentence(finding.statement)
    return f"{finding.rule}{name}: {said}"


def open_ends(
    checks: Sequence[CheckResult], accepted: Accepted | None, notes: Sequence[str]
) -> str:
    said = [
        f"{opener}: {', '.join(names)}"
        for status, opener in OPENERS.items()
        if (names := [str(each.check) for each in checks if each.status is status])
    ]
    said += notes
    if accepted and accepted.findings:
        rules = ", ".join(unique(each.rule for each in accepted.findings))
        said.append(f"accepted by the baseline: {rules}")
    return " ".join(map(sentence, said))


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
