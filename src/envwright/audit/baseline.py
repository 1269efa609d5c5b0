"""`Baseline`: findings that are known and accepted, and which of them are found no more.

An entry accepts the findings of its rule that match all that it says. One that is read from
an earlier scorecard accepts what cites the same evidence and is no worse than it was; line
numbers may move.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError

from envwright.errors import UsageError
from envwright.finding import (
    Citation,
    Finding,
    ReplyCitation,
    Severity,
    SourceCitation,
    StepCitation,
    TaskCitation,
)
from envwright.probe.rule import Report
from envwright.record import Record, items, mapping

FORM = 'a scorecard.json, or a list of {"rule": "EW301", "key"|"path"|"field"|"signal": …}'
SEVERITIES = list(Severity)


class Accepts(Record):
    """An entry, as a person writes it: a rule, and what one of its citations must say."""

    rule: str = Field(pattern=r"^EW\d{3}$")
    key: str | None = Field(default=None, min_length=4)
    """Of a task, or the beginning of it."""
    path: str | None = None
    field: str | None = None
    signal: str | None = None
    note: str | None = None
    """Why it is accepted, for whoever reads the file."""

    def matches(self, finding: Finding) -> bool:
        return finding.rule == self.rule and any(map(self.cites, finding.citations))

    def cites(self, citation: Citation) -> bool:
        said = citation.model_dump()
        if self.key is not None and not str(said.get("key", "")).startswith(self.key):
            return False
        wanted = {"path": self.path, "field": self.field, "signal": self.signal}
        return all(said.get(name) == value for name, value in wanted.items() if value is not None)

    def __str__(self) -> str:
        said = self.model_dump(exclude_none=True, exclude={"rule", "note"})
        return " ".join([self.rule, *(f"{name}={value}" for name, value in said.items())])


@dataclass(frozen=True, slots=True)
class Seen:
    """A finding of an earlier scorecard."""

    finding: Finding

    def matches(self, finding: Finding) -> bool:
        same = finding.rule == self.finding.rule
        no_worse = SEVERITIES.index(finding.severity) <= SEVERITIES.index(self.finding.severity)
        return same and no_worse and bool(anchors(finding) & anchors(self.finding))

    def __str__(self) -> str:
        return f"{self.finding.rule}: {self.finding.statement}"


def anchors(finding: Finding) -> set[tuple[str, ...]]:
    return {anchor(each) for each in finding.citations}


def anchor(citation: Citation) -> tuple[str, ...]:
    """What a citation points at, apart from where it may move to."""
    match citation:
        case SourceCitation():
            return ("source", citation.path, " ".join(citation.quote.split()))
        case TaskCitation():
            return ("task", citation.key, citation.field)
        case ReplyCitation():
            return ("reply", citation.key, citation.signal)
        case StepCitation():
            return ("step", citation.trial)


class Accepted(Record):
    """What became of a baseline: the findings it accepted, and entries that matched none."""

    findings: tuple[Finding, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Baseline:
    entries: Sequence[Accepts | Seen]

    def accepts(self, finding: Finding) -> bool:
        return any(entry.matches(finding) for entry in self.entries)

    def stale(self, accepted: Iterable[Finding]) -> tuple[str, ...]:
        found = list(accepted)
        return tuple(str(entry) for entry in self.entries if not any(map(entry.matches, found)))


def accept(
    reports: Sequence[Report], baseline: Baseline | None
) -> tuple[list[Report], Accepted | None]:
    """The reports without what the baseline accepts, and that apart."""
    if baseline is None:
        return list(reports), None
    known = tuple(f for report in reports for f in report.findings if baseline.accepts(f))
    left = [
        report.model_copy(
            update={"findings": tuple(f for f in report.findings if not baseline.accepts(f))}
        )
        for report in reports
    ]
    return left, Accepted(findings=known, stale=baseline.stale(known))


def read_baseline(text: str, name: str) -> Baseline:
    """From a file's text; `UsageError` names what is wrong with it, and where."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--baseline {name} is no JSON: {error}", hint=f"give {FORM}") from error
    if isinstance(raw, list):
        return Baseline([entry_of(each, n, name) for n, each in enumerate(items(raw))])
    card = mapping(raw)
    if "checks" not in card:
        raise UsageError(f"--baseline {name} is no baseline", hint=f"give {FORM}")
    found = [each for check in items(card.get("checks")) for each in findings_in(check)]
    found += items(mapping(card.get("baseline")).get("findings"))
    return Baseline([Seen(finding_of(each, n, name)) for n, each in enumerate(found)])


def findings_in(check: Any) -> list[Any]:
    return items(mapping(check).get("findings"))


def entry_of(raw: Any, n: int, name: str) -> Accepts:
    try:
        return Accepts.model_validate(raw)
    except ValidationError as error:
        raise bad(f"entry {n}", error, name) from error


def finding_of(raw: Any, n: int, name: str) -> Finding:
    try:
        return Finding.model_validate(raw)
    except ValidationError as error:
        raise bad(f"finding {n}", error, name) from error


def bad(what: str, error: ValidationError, name: str) -> UsageError:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "it"
    return UsageError(f"--baseline {name}: {what}: {where}: {first['msg']}", hint=f"give {FORM}")
