"""What a sweep would cost, before it is started. Pure but for the history it is given."""

import math
from collections.abc import Mapping, Sequence

from envwright.agent import AgentSpec
from envwright.budget import Spending
from envwright.environment import Task
from envwright.model import Model, price_of
from envwright.record import Record

CHARACTERS_PER_TOKEN = 4
OUTPUT_TOKENS = 512
"""Assumed of a trial that nobody has run and whose sampling sets no cap."""


class AgentEstimate(Record):
    trials: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None when the price is not known."""
    basis: str

    def of_one(self) -> Spending:
        """What one trial may spend, judges and other seats apart: nothing is known of them."""
        each = max(1, self.trials)
        cost = None if self.cost_usd is None else self.cost_usd / each
        tokens = math.ceil((self.input_tokens + self.output_tokens) / each)
        return Spending(tokens=tokens, cost_usd=cost, known_usd=cost or 0.0)


class Estimate(Record):
    trials: int
    """That are left to do."""
    scored: int = 0
    """That are done already."""
    cost_usd: float | None
    agents: dict[str, AgentEstimate]
    apart: tuple[str, ...] = ()
    """Seats that others play, and judges: what they cost is not estimated."""


def estimate(
    trials: Mapping[AgentSpec, int],
    tasks: Sequence[Task],
    models: Mapping[str, Model],
    history: Mapping[str, tuple[float, float, int]],
    max_tokens: int | None,
    apart: tuple[str, ...],
) -> Estimate:
    """Tokens as earlier trials used them, else from the prompts' length.

    What others than the agents will cost (`apart`) is not estimated, and so the whole is unknown.
    """
    agents = {
        str(agent): estimate_agent(agent, count, tasks, models, history.get(str(agent)), max_tokens)
        for agent, count in trials.items()
    }
    costs = [each.cost_usd for each in agents.values()]
    known = [cost for cost in costs if cost is not None]
    left = sum(trials.values())
    return Estimate(
        trials=left,
        cost_usd=sum(known) if len(known) == len(costs) and not (apart and left) else None,
        agents=agents,
        apart=apart,
    )


def request_length(task: Task) -> int:
    return len(task.prompt) + len(str(task.row.get("system_prompt") or ""))


def estimate_trial(
    agent: AgentSpec,
    tasks: Sequence[Task],
    models: Mapping[str, Model],
    history: tuple[float, float, int] | None,
    max_tokens: int | None,
) -> Spending:
    """What one trial may take, for a budget to set aside."""
    one = estimate_agent(agent, 1, tasks, models, history, max_tokens)
    return Spending(
        tokens=one.input_tokens + one.output_tokens,
        cost_usd=one.cost_usd,
        known_usd=one.cost_usd or 0.0,
    )


def merged(estimates: Mapping[str, Estimate]) -> Estimate:
    """Of several environments, by name."""
    costs = [each.cost_usd for each in estimates.values()]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        trials=sum(each.trials for each in estimates.values()),
        scored=sum(each.scored for each in estimates.values()),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        agents={
            f"{name}: {agent}": row
            for name, each in estimates.items()
            for agent, row in each.agents.items()
        },
        apart=tuple(dict.fromkeys(seat for each in estimates.values() for seat in each.apart)),
    )


def estimate_agent(
    agent: AgentSpec,
    count: int,
    tasks: Sequence[Task],
    models: Mapping[str, Model],
    history: tuple[float, float, int] | None,
    max_tokens: int | None,
) -> AgentEstimate:
    model = models.get(agent.subject or "") if agent.kind.needs_model else None
    if model is None:
        return AgentEstimate(
            trials=count, input_tokens=0, output_tokens=0, cost_usd=0.0, basis="asks no model"
        )
    if history is not None:
        each_in, each_out, seen = history
        basis = f"{seen} scored trials of this revision"
    else:
        characters = sum(map(request_length, tasks)) / max(1, len(tasks))
        each_in = characters / CHARACTERS_PER_TOKEN
        each_out = float(max_tokens or OUTPUT_TOKENS)
        basis = f"one turn, prompts of {characters:.0f} characters, {each_out:.0f} tokens out"
    used_in, used_out = round(each_in * count), round(each_out * count)
    return AgentEstimate(
        trials=count,
        input_tokens=used_in,
        output_tokens=used_out,
        cost_usd=price_of(model, input_tokens=used_in, output_tokens=used_out),
        basis=basis,
    )
