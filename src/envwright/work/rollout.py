"""Trials of the store as the audit reads them: rollouts, and replies that were paid."""

from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from envwright.environment import Task
from envwright.probe.rollout import Rollout, Rollouts
from envwright.record import Json
from envwright.store import Store
from envwright.store import trial as trials
from envwright.store.status import SOLVED_ABOVE
from envwright.trace import Trace
from envwright.trial.outcome import Outcome

TRACES = TypeAdapter(tuple[Trace, ...])
OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)


def read_rollouts(
    store: Store, sweep: str, agent: str, tasks: Sequence[Task], total: int | None
) -> Rollouts:
    """All trials of a sweep, with the traces of their last attempts."""
    prompts = {task.key: prompt_of(task) for task in tasks}
    rows = store.read(trials.list_trials, sweep=sweep)
    each = [read_rollout(store, row, prompts.get(row.task_key, "")) for row in rows]
    ordered = sorted(each, key=lambda rollout: rollout.trial)
    return Rollouts(agent=agent, each=ordered, tasks=len(tasks), of=total)


def prompt_of(task: Task) -> str:
    system = task.row.get("system_prompt")
    return f"{system}\n{task.prompt}" if isinstance(system, str) else task.prompt


def read_rollout(store: Store, row: trials.TrialRow, prompt: str) -> Rollout:
    attempts = store.read(trials.attempts_of, row.id)
    last = attempts[-1] if attempts else None
    seconds = None
    if last is not None and last.ended_at is not None:
        seconds = max(0.0, (last.ended_at - last.started_at).total_seconds())
    return Rollout(
        trial=row.id,
        attempt=last.n if last else 1,
        key=row.task_key,
        prompt=prompt,
        outcome=OUTCOME.validate_python(row.outcome) if row.outcome else None,
        seconds=seconds,
        traces=TRACES.validate_json(store.blobs.get(last.blob)) if last and last.blob else (),
    )


def paid_replies(store: Store, revision: str, args: Json) -> Mapping[str, str]:
    """Task key → the last reply of the trial that was paid most, where one was solved in one."""
    found: dict[str, str] = {}
    for each in store.read(trials.solved_trials, revision, SOLVED_ABOVE):
        if each.key in found or each.args != args:
            continue
        said = [
            [step.content for step in trace.steps if step.sampled]
            for trace in TRACES.validate_json(store.blobs.get(each.blob))
            if trace.measured
        ]
        # One reply can be given again; what it took several for cannot.
        if len(said) == 1 and len(said[0]) == 1 and said[0][0].strip():
            found[each.key] = said[0][0]
    return found
