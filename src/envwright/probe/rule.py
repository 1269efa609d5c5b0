"""`Rule`: one way in which an environment can be wrong; `Report`: what looking for it showed.

A rule is a row, beside the probe that looks for it. Its number never changes its meaning:
EW0 what trials report · EW1 package and load · EW2 data · EW3 replies that should or should
not be paid · EW4 how scoring behaves · EW5 the source · EW6 tools and episodes ·
EW7 rollouts · EW8 contamination.
"""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from envwright.finding import Finding, Severity
from envwright.record import Record


class Check(StrEnum):
    """The audit's six questions, in the order in which they are answered."""

    INTEGRITY = "integrity"
    PROBLEM_ALIGNMENT = "problem_alignment"
    REWARD_DESIGN = "reward_design"
    LATENCY = "latency"
    ROLLOUT_QUALITY = "rollout_quality"
    CONTAMINATION = "contamination"


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    name: str
    """Kebab-case; the heading in docs/reward-design.md that explains it."""
    defect: str
    """Its class of defect, as tests/defects/TAXONOMY.md names it."""
    check: Check
    severity: Severity
    """At most: a probe that saw less may report less."""
    tries: str
    """What is tried, or read."""
    hit: str
    """What a hit looks like."""
    why: str
    """Why it matters to who trains on it."""
    exempt: str = ""
    """When it does not apply."""

    @property
    def page(self) -> str:
        """Where it is explained."""
        return f"docs/reward-design.md#{self.name}"


class Extent(StrEnum):
    """How far a probe got."""

    RAN = "ran"
    NOT_APPLICABLE = "not applicable"
    NO_GOLD = "no gold"
    UNFINISHED = "unfinished"


class Report(Record):
    """What looking for one rule showed, and how much was looked at."""

    rule: str = Field(pattern=r"^EW\d{3}$")
    extent: Extent = Extent.RAN
    reason: str = ""
    """Why it did not run, or not to its end."""
    tried: int = 0
    of: int | None = None
    """How many there are; None when that is endless."""
    unit: str = "tasks"
    findings: tuple[Finding, ...] = ()
