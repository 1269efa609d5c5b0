"""`plan`: tasks × agents × repetitions → the trials of a sweep. Pure."""

from collections.abc import Sequence

from pydantic import Field, JsonValue

from envwright.agent import AgentSpec
from envwright.environment import Task
from envwright.record import Digest, Record, digest
from envwright.trial.spec import Condition, Sampling, TrialSpec


class Plan(Record):
    """What two results must share to be compared; the revision is what varies."""

    tasks: tuple[tuple[int, Digest], ...]
    agents: tuple[AgentSpec, ...]
    trials: int = Field(gt=0)
    condition: Condition = Condition.PLAIN
    sampling: Sampling = Sampling()
    args: dict[str, JsonValue] = {}
    judge: str | None = None

    @property
    def digest(self) -> str:
        return digest(self)

    @classmethod
    def of(
        cls,
        tasks: Sequence[Task],
        agents: Sequence[AgentSpec],
        trials: int,
        sampling: Sampling,
        args: dict[str, JsonValue],
        judge: str | None,
    ) -> "Plan":
        return cls(
            tasks=tuple((task.index, task.key) for task in tasks),
            agents=tuple(agents),
            trials=trials,
            sampling=sampling,
            args=args,
            judge=judge,
        )


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
            n=n,
        )
        for n in range(first, first + plan.trials)
        for index, key in plan.tasks
        for agent in plan.agents
    ]
