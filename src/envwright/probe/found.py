"""How a reading of rows or source lines becomes a `Report`; it was read, so it is shown again."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envwright.finding import Basis, Citation, Finding, Severity, SourceCitation, TaskCitation
from envwright.probe.rule import Extent, Report, Rule

MOST_CITATIONS = 5
LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True)
class Place:
    """Where an environment is."""

    folder: str
    """Of its files."""
    command: str
    """As a command names it, with its arguments: ready for a shell."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that is wrong, and where that stands."""

    statement: str
    citations: Sequence[Citation]
    severity: Severity | None = None
    """Less than the rule's own."""
    command: str | None = None
    """What shows it, where its first citation alone would not."""


def report(rule: Rule, hits: Iterable[Hit], place: Place, *, tried: int, unit: str) -> Report:
    """All that one rule found, of `tried` things that were looked at."""
    found = tuple(
        Finding(
            rule=rule.id,
            severity=hit.severity or rule.severity,
            basis=Basis.PROVEN,
            statement=hit.statement,
            citations=tuple(hit.citations[:MOST_CITATIONS]),
            reproduce=hit.command or show(place, hit.citations[0]),
        )
        for hit in hits
    )
    return Report(rule=rule.id, tried=tried, of=tried, unit=unit, findings=found)


def skipped(rule: Rule, reason: str, extent: Extent = Extent.NOT_APPLICABLE) -> Report:
    return Report(rule=rule.id, extent=extent, reason=reason)


def show(place: Place, citation: Citation) -> str:
    """A command that prints what is cited."""
    if isinstance(citation, SourceCitation):
        return f"sed -n {citation.line}p {shlex.quote(f'{place.folder}/{citation.path}')}"
    if isinstance(citation, TaskCitation):
        return f"envwright env tasks {place.command} --json | grep {citation.key[:12]}"
    return f"envwright env inspect {place.command}"


def quote(text: str) -> str:
    """A text as a citation holds it: on one line, and not all of it."""
    return " ".join(text.split())[:LONGEST_QUOTE]
