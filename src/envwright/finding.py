"""A `Finding` is a statement with its evidence; a `Citation` points at the evidence.

A finding without a citation does not validate. `check_citation` compares a
citation's quote with the text it points at: what is not there is not evidence.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from envwright.record import Digest, Record


class Severity(StrEnum):
    INFO = "info"
    WARN = "warn"
    FAIL = "fail"


class Basis(StrEnum):
    PROVEN = "proven"
    """By execution: the command in `reproduce` shows it again."""
    JUDGED = "judged"
    """By a model that read the evidence."""


class StepCitation(Record):
    kind: Literal["step"] = "step"
    trial: Digest
    attempt: int
    seat: str
    step: int
    quote: str


class SourceCitation(Record):
    kind: Literal["source"] = "source"
    path: str
    line: int = Field(ge=1)
    quote: str


class TaskCitation(Record):
    kind: Literal["task"] = "task"
    key: Digest
    field: str
    quote: str


class ReplyCitation(Record):
    """A reply that was scored, and the signal that says so."""

    kind: Literal["reply"] = "reply"
    key: Digest
    signal: str
    quote: str
    """What the signal returned, as text: it may be no number."""
    reply: str | None = None
    """What was said, cut where it is long; the command in `reproduce` has it whole."""
    gold: str | None = None
    """What is right there, as far as it is known; cut where it is long."""


Citation = Annotated[
    StepCitation | SourceCitation | TaskCitation | ReplyCitation, Field(discriminator="kind")
]


class Finding(Record):
    rule: str = Field(pattern=r"^EW\d{3}$")
    severity: Severity
    basis: Basis
    statement: str
    citations: tuple[Citation, ...] = Field(min_length=1)
    reproduce: str
    """A command that shows it again."""


def check_citation(citation: Citation, text: str) -> bool:
    """Whether the cited text really holds the quote; white space is folded on both sides."""
    if isinstance(citation, SourceCitation):
        lines = text.splitlines()
        if citation.line > len(lines):
            return False
        text = lines[citation.line - 1]
    quote = " ".join(citation.quote.split())
    return bool(quote) and quote in " ".join(text.split())
