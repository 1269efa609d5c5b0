"""`ReplyProbe`: what one idea wants scored, and what it reads in the scores. Both are pure."""

from collections.abc import Sequence
from typing import Protocol

from envwright.probe.case import Sample
from envwright.probe.rule import Report, Rule
from envwright.probe.scoring import Told, Try


class ReplyProbe(Protocol):
    rules: tuple[Rule, ...]

    def tries(self, sample: Sample) -> Sequence[Try]:
        """All that it wants scored; what several probes want is scored once."""
        ...

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        """One report for each of its rules, also when there is nothing to report."""
        ...
