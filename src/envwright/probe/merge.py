"""`merge`: one finding per defect where a source line explains what execution proved."""

from collections.abc import Mapping, Sequence

from envwright.finding import Finding, SourceCitation
from envwright.probe.rule import Report, Rule

READ = ("EW5",)
"""Rules that read the source; all others ran something, or looked at what ran."""


def merge(reports: Sequence[Report], rules: Mapping[str, Rule]) -> list[Report]:
    """The reports without what the source says again of a defect that was seen to happen.

    The finding that was executed stays, and cites the line as well. `rules` has every rule
    that reports, by id.
    """
    lines = {
        rules[report.rule].defect: [
            *(c for f in report.findings for c in f.citations if isinstance(c, SourceCitation))
        ]
        for report in reports
        if is_read(report)
    }
    executed = {
        rules[report.rule].defect
        for report in reports
        if not is_read(report) and any(is_serious(f) for f in report.findings)
    }
    merged: list[Report] = []
    for report in reports:
        defect = rules[report.rule].defect
        findings = report.findings
        if defect in executed and is_read(report):
            findings = ()
        elif defect in executed:
            findings = tuple(explained(f, lines.get(defect, [])) for f in findings)
        merged.append(report.model_copy(update={"findings": findings}))
    return merged


def is_read(report: Report) -> bool:
    return report.rule.startswith(READ)


def is_serious(finding: Finding) -> bool:
    return finding.severity != "info"


def explained(finding: Finding, lines: Sequence[SourceCitation]) -> Finding:
    if not is_serious(finding):
        return finding
    new = tuple(line for line in lines if line not in finding.citations)
    return finding.model_copy(update={"citations": (*finding.citations, *new)})
