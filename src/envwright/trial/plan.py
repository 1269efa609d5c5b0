"""`plan`: tasks × agents × repetitions → the trials of a sweep. Pure."""

import hashlib

from pydantic import Field, JsonValue

from envwright.agent import AgentSpec
from envwright.environment.egress import Egress
from envwright.record import Digest, Record
from envwright.trial.spec import Condition, Limits, Sampling, TrialSpec, identity


class Plan(Record):
    """What two results must share to be compared; the revision is what varies."""

    tasks: tuple[tuple[int, Digest], ...]
    agents: tuple[AgentSpec, ...]
    trials: int = Field(gt=0)
    condition: Condition = Condition.PLAIN
    sampling: Sampling = Sampling()
    args: dict[str, JsonValue] = {}
    judge: Digest | None = None
    """The content of the judge's model."""
    seat: str | None = None
    """The measured one, where there are several."""
    played: dict[str, Digest] = {}
    """Seats that others than the agent play → the content of their models."""
    limits: Limits = Limits()
    venv: Digest | None = None
    """The content of the user's own venv."""
    egress: Egress | None = None
    """What environment code could reach; None for nothing."""
    secrets: tuple[str, ...] = ()
    """The names of those that it was given."""

    @property
    def digest(self) -> str:
        return identity(self)


def trials_of(plan: Plan, revision: str, first: int = 0) -> list[TrialSpec]:
    """Every trial of the plan, task by task, so that an interrupted sweep is a fair part of it."""
    return [
        TrialSpec(
            revision=revision,
            index=index,
            key=key,
            agent=agent,
            condition=plan.condition,
            sampling=plan.sampling,
            args=plan.args,
            judge=plan.judge,
            seat=plan.seat,
            played=plan.played,
            limits=plan.limits,
            venv=plan.venv,
            egress=plan.egress,
            n=n,
        )
        for n in range(first, first + plan.trials)
        for index, key in plan.tasks
        for agent in plan.agents
    ]


def draw(seed: str, count: int, wanted: int) -> list[int]:
    """The places of tasks drawn by a seed, in order; who asks for more gets these and others."""

    def lot(index: int) -> bytes:
        return hashlib.sha256(f"{index}:{seed}".encode()).digest()

    return sorted(sorted(range(count), key=lot)[:wanted])
