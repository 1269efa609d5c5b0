"""What a sweep came to: per agent, with denominators and intervals. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from envwright.agent import AgentSpec
from envwright.errors import Cause
from envwright.record import Record
from envwright.stats import Interval, mean, mean_interval, wilson
from envwright.store.result import Apart, TrialSummary
from envwright.store.status import SOLVED_ABOVE, Counts
from envwright.store.sweep import SweepState

Name = tuple[str, str]
"""An environment and an agent."""


class Tokens(Record):
    input: int = 0
    output: int = 0
    cached: int = 0


class Spent(Tokens):
    cost_usd: float | None
    """None when the price of any call is unknown."""


class AgentResult(Record):
    trials: int
    """Planned; scored, failed and missing add up to it."""
    scored: int
    failed: dict[Cause, int]
    missing: int = 0
    """Without an outcome: stopped, or not reached."""
    certain: int = 0
    """Of the missing, those that would not have changed their task's verdict."""
    mean_reward: float | None
    mean_interval: Interval | None
    solved: int
    solved_interval: Interval | None
    tokens: Tokens
    """The agent's own."""
    apart: dict[str, Spent] = {}
    """Of the seats that others play, and of judges in rewards (`environment`)."""
    cost_usd: float | None
    """Of all of them together; None when the price of any call is unknown."""
    baseline: bool = False
    queue: str = Field(default="", exclude=True)


class SweepResult(Record):
    sweep: str
    agents: dict[str, AgentResult]
    closed: dict[str, str] = Field(default={}, exclude=True)
    """Queues whose provider refused, and its words."""
    why: dict[str, int] = Field(default={}, exclude=True)
    """The last line of what broke → in how many trials; the most frequent first."""
    failures: tuple[str, ...] = Field(default=(), exclude=True)
    """Our own bugs outside any trial."""
    state: SweepState = SweepState.DONE
    stopped_by: str | None = None
    """Why it ended before all of its trials were done."""


def titles(names: Iterable[Name]) -> dict[Name, str]:
    """What each is called: by its agent, and by its environment where there are several."""
    unique = list(dict.fromkeys(names))
    several = len({environment for environment, _ in unique}) > 1
    return {each: f"{each[0]}: {each[1]}" if several else each[1] for each in unique}


def sum_up(
    sweep: str,
    agents: Mapping[Name, AgentSpec],
    summaries: Iterable[TrialSummary],
    apart: Sequence[Apart],
    counts: Mapping[Name, Counts],
) -> SweepResult:
    by_agent: dict[Name, list[TrialSummary]] = {name: [] for name in agents}
    for summary in summaries:
        by_agent[summary.environment, summary.agent].append(summary)
    called = titles(agents)
    return SweepResult(
        sweep=sweep,
        agents={
            called[name]: sum_up_agent(
                agent,
                by_agent[name],
                [each for each in apart if (each.environment, each.agent) == name],
                counts.get(name, Counts()),
            )
            for name, agent in agents.items()
        },
    )


def sum_up_agent(
    agent: AgentSpec, rows: Sequence[TrialSummary], apart: Sequence[Apart], counts: Counts
) -> AgentResult:
    by_task: dict[str, list[float]] = {}
    for row in rows:
        if row.reward is not None:
            by_task.setdefault(row.task_key, []).append(row.reward)
    rewards = [reward for group in by_task.values() for reward in group]
    failed = Counter(row.cause for row in rows if row.cause is not None)
    solved = sum(reward > SOLVED_ABOVE for reward in rewards)
    costs = [row.cost_usd for row in rows]
    known = [cost for cost in costs if cost is not None]
    return AgentResult(
        trials=len(rows),
        scored=len(rewards),
        failed=dict(sorted(failed.items())),
        missing=sum(row.outcome is None for row in rows),
        mean_reward=mean(rewards),
        mean_interval=mean_interval(by_task),
        solved=solved,
        solved_interval=wilson(solved, len(rewards)),
        tokens=Tokens(
            input=sum(r.input_tokens for r in rows) - sum(a.input_tokens for a in apart),
            output=sum(r.output_tokens for r in rows) - sum(a.output_tokens for a in apart),
            cached=sum(r.cached_tokens for r in rows) - sum(a.cached_tokens for a in apart),
        ),
        apart={
            each.seat: Spent(
                input=each.input_tokens,
                output=each.output_tokens,
                cached=each.cached_tokens,
                cost_usd=each.cost_usd,
            )
            for each in apart
        },
        cost_usd=sum(known) if len(known) == len(costs) else None,
        baseline=agent.kind.is_baseline,
        certain=counts.certain,
        queue=agent.queue,
    )
