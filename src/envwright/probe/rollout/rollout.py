"""`Rollout`: one trial as the rules of rollouts see it; `Rollouts`: all of them, of one agent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from envwright.finding import Basis, Finding, Severity, StepCitation
from envwright.probe.rule import Extent, Report, Rule
from envwright.trace import Role, Step, Trace
from envwright.trial.outcome import Outcome, Scored

QUOTE = 200
SHOWN = 3
"""Rollouts that a finding cites."""


@dataclass(frozen=True, slots=True)
class Rollout:
    trial: str
    attempt: int
    """The last one: that which was graded."""
    key: str
    prompt: str
    """What the task asks, its system prompt too."""
    outcome: Outcome | None
    """None when it was not reached."""
    seconds: float | None
    """From the attempt's start to its end."""
    traces: tuple[Trace, ...] = ()

    @property
    def measured(self) -> tuple[Trace, ...]:
        return tuple(trace for trace in self.traces if trace.measured)

    @property
    def scored(self) -> Scored | None:
        return self.outcome if isinstance(self.outcome, Scored) else None

    @property
    def replies(self) -> list[str]:
        """What the agent said, turn after turn."""
        return [step.content for trace in self.measured for step in trace.steps if is_said(step)]

    @property
    def last_reply(self) -> str:
        return next(reversed(self.replies), "")

    def cite(self, quote: str | None = None) -> StepCitation:
        """The step that holds the quote; without one, the agent's last words."""
        steps = [
            (trace.seat, n, step)
            for trace in self.measured
            for n, step in enumerate(trace.steps)
            if step.content.strip() and (quote is None or quote in step.content)
        ]
        said = [each for each in steps if is_said(each[2])]
        for seat, n, step in reversed(said if quote is None and said else steps):
            return self.step(seat, n, (quote or step.content)[:QUOTE])
        return self.step(self.traces[0].seat if self.traces else "agent", 0, "")

    def step(self, seat: str, n: int, quote: str) -> StepCitation:
        return StepCitation(trial=self.trial, attempt=self.attempt, seat=seat, step=n, quote=quote)


def is_said(step: Step) -> bool:
    return step.role is Role.ASSISTANT and (step.sampled or bool(step.content))


@dataclass(frozen=True, slots=True)
class Rollouts:
    agent: str
    each: Sequence[Rollout]
    tasks: int
    """How many tasks they are of."""
    of: int | None
    """How many tasks there are; None when they are endless."""

    @property
    def scored(self) -> list[tuple[Rollout, Scored]]:
        return [(each, each.scored) for each in self.each if each.scored is not None]

    @property
    def groups(self) -> Mapping[str, list[tuple[Rollout, Scored]]]:
        """Scored rollouts by task."""
        found: dict[str, list[tuple[Rollout, Scored]]] = {}
        for rollout, scored in self.scored:
            found.setdefault(rollout.key, []).append((rollout, scored))
        return found

    def report(
        self, rule: Rule, findings: Sequence[Finding] = (), *, tried: int, of: int, unit: str
    ) -> Report:
        return Report(rule=rule.id, tried=tried, of=of, unit=unit, findings=tuple(findings))

    def silent(self, rule: Rule, why: str) -> Report:
        return Report(rule=rule.id, extent=Extent.NOT_APPLICABLE, reason=why)


def finding(
    rule: Rule, statement: str, shown: Sequence[Rollout], severity: Severity | None = None
) -> Finding:
    """With the first few of its rollouts as evidence."""
    cited = tuple(cite_all(shown))
    return Finding(
        rule=rule.id,
        severity=severity or rule.severity,
        basis=Basis.PROVEN,
        statement=statement,
        citations=cited,
        reproduce=f"envwright trial show {cited[0].trial[:12]}",
    )


def cite_all(shown: Sequence[Rollout]) -> Iterator[StepCitation]:
    for rollout in shown[:SHOWN]:
        yield rollout.cite()


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})"
