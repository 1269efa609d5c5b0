"""`plan`: tasks × agents × repetitions → the trials of a sweep. Pure."""

import hashlib

from pydantic import Field

from envwright.agent import AgentSpec
from envwright.record import Digest
from envwright.trial.spec import Setting, TrialSpec, identity


class Plan(Setting):
    """What two results must share to be compared; the revision is what varies."""

    tasks: tuple[tuple[int, Digest], ...]
    agents: tuple[AgentSpec, ...]
    trials: int = Field(gt=0)

    @property
    def digest(self) -> str:
        return identity(self)


def trials_of(plan: Plan, revision: str, first: int = 0) -> list[TrialSpec]:
    """Every trial of the plan, task by task, so that an interrupted sweep is a fair part of it."""
    setting = {name: getattr(plan, name) for name in Setting.model_fields}
    return [
        TrialSpec(revision=revision, index=index, key=key, agent=agent, n=n, **setting)
        for n in range(first, first + plan.trials)
        for index, key in plan.tasks
        for agent in plan.agents
    ]


def draw(seed: str, count: int, wanted: int) -> list[int]:
    """The places of tasks drawn by a seed, in order; who asks for more gets these and others."""

    def lot(index: int) -> bytes:
        return hashlib.sha256(f"{index}:{seed}".encode()).digest()

    return sorted(sorted(range(count), key=lot)[:wanted])
