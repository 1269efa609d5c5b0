"""Environments in one line: plain reward functions behind the port that probes score through.

Nothing is loaded and no process is started, so that hundreds of rewards can be tried.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from envwright.environment import Environment, Kind, Signal, Task, TaskCount
from envwright.finding import Severity
from envwright.probe.case import Sample
from envwright.probe.gold import find_gold
from envwright.probe.reply import PROBES, settle
from envwright.probe.rule import Report
from envwright.probe.scoring import Told, Tried, Try
from envwright.record import digest

Reward = Callable[[str, str, str], float]
"""Of a reply, the gold and the prompt."""


@dataclass
class Plain:
    """Tasks of (prompt, gold) and rewards with their weights."""

    tasks: Sequence[tuple[str, str]]
    rewards: dict[str, tuple[float, Reward]]
    system: str | None = None
    episodic: bool = False
    alone: frozenset[str] = frozenset()
    scored: dict[Try, Tried] = field(default_factory=dict)
    stopped: str | None = None

    @property
    def rows(self) -> list[Task]:
        return [self.row(index, *each) for index, each in enumerate(self.tasks)]

    def row(self, index: int, prompt: str, gold: str) -> Task:
        row = {"prompt": prompt, "answer": gold}
        if self.system is not None:
            row["system_prompt"] = self.system
        return Task(index=index, key=digest([prompt, gold, index]), prompt=prompt, row=row)

    @property
    def environment(self) -> Environment:
        return Environment(
            kind=Kind.VERIFIERS,
            name="plain",
            revision="0" * 64,
            tasks=TaskCount(count=len(self.tasks), infinite=False),
            rewards=tuple(Signal(name=n, weight=w) for n, (w, _) in self.rewards.items()),
            episodic=self.episodic,
        )

    async def score(self, tries: Sequence[Try]) -> Told:
        for each in tries:
            if each not in self.scored:
                self.scored[each] = self.tried(each)
        return {each: self.scored[each] for each in tries}

    async def again(self, tries: Sequence[Try]) -> list[Tried | None]:
        return [self.tried(each) for each in tries]

    def tried(self, each: Try) -> Tried:
        prompt, gold = self.tasks[each.index]
        try:
            parts = {n: float(f(each.reply, gold, prompt)) for n, (_, f) in self.rewards.items()}
        except Exception as error:  # noqa: BLE001 - as a host does
            return Tried(None, problem=repr(error))
        total = sum(self.rewards[name][0] * value for name, value in parts.items())
        return Tried(total if math.isfinite(total) else None, parts=parts)


def sample_of(plain: Plain) -> Sample:
    sample = asyncio.run(find_gold(plain, plain.environment, plain.rows))
    return replace(sample, alone=plain.alone)


def reports_of(plain: Plain) -> list[Report]:
    """What the probes of replies report, before one explains another."""
    sample = sample_of(plain)
    tries = [each for probe in PROBES for each in probe.tries(sample)]
    told = asyncio.run(plain.score(tries))
    return [report for probe in PROBES for report in probe.read(sample, told)]


def rules_found(plain: Plain) -> set[str]:
    """The rules with a finding that counts."""
    return {
        finding.rule
        for report in settle(reports_of(plain))
        for finding in report.findings
        if finding.severity is not Severity.INFO
    }
