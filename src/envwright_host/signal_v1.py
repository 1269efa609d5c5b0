"""verifiers ≥ 0.4: a task's signals, run without an agent, and which of them ran.

A task whose signals or hooks want a runtime gets verifiers' subprocess runtime, which is
inside this sandbox; what needs a container says so and is not run.
"""

import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import verifiers.v1 as vf
from verifiers.v1 import task as task_module
from verifiers.v1.errors import TaskError, boundary
from verifiers.v1.graph import MessageNode
from verifiers.v1.runtimes import provision_runtime
from verifiers.v1.state import state_cls
from verifiers.v1.utils.compile import resolve_runtime_config
from verifiers.v1.utils.decorators import invoke

from envwright_host.server import problem_of

ran: ContextVar[dict[str, set[str]] | None] = ContextVar("ran", default=None)
"""Trace → the signals that were run on it and returned, in the call at hand."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What a task declares."""

    rewards: tuple[str, ...]
    metrics: tuple[str, ...]
    wants_runtime: tuple[str, ...]
    """Signals that cannot be run without one."""
    staged: bool
    """Whether a runtime is due at all: for a signal, or for hooks around the agent's work."""


def signals_of(task: vf.Task) -> Signals:
    rewards, metrics, judges = task.hooks("reward"), task.hooks("metric"), task.plugged_judges()
    wanting = [fn.__name__ for fn in [*metrics, *rewards] if wants_runtime(fn)]
    wanting += [judge.reward_name for judge in judges if wants_runtime(judge.score)]
    hooked = any(
        getattr(type(task), hook) is not getattr(vf.Task, hook) for hook in ("setup", "finalize")
    )
    return Signals(
        rewards=(*(fn.__name__ for fn in rewards), *(judge.reward_name for judge in judges)),
        metrics=tuple(fn.__name__ for fn in metrics),
        wants_runtime=tuple(wanting),
        staged=hooked or bool(wanting),
    )


def wants_runtime(fn: Callable[..., Any]) -> bool:
    parameter = inspect.signature(fn).parameters.get("runtime")
    return parameter is not None and parameter.default is inspect.Parameter.empty


def watch_signals() -> None:
    """Note which signals are run: a trace alone does not tell a keyed reward from none."""
    original = task_module.invoke_all

    async def invoke_all(fns: list[Callable[..., Any]], available: dict[str, Any]) -> list[Any]:
        results = await original(fns, available)
        noted, trace = ran.get(), available.get("trace")
        if noted is not None and trace is not None:
            noted.setdefault(trace.id, set()).update(map(name_of, fns))
        return results

    task_module.invoke_all = invoke_all


def name_of(fn: Callable[..., Any]) -> str:
    owner = getattr(fn, "__self__", None)
    return owner.reward_name if isinstance(owner, vf.Judge) else fn.__name__


def not_run(signals: Signals, trace: str) -> tuple[list[str], list[str]]:
    """The rewards and the metrics that were declared and never ran on this trace."""
    noted = (ran.get() or {}).get(trace, set())
    return (
        [name for name in signals.rewards if name not in noted],
        [name for name in signals.metrics if name not in noted],
    )


def mark_skipped(signals: Signals, record: dict[str, Any], task_type: str) -> None:
    """Say in an episode's record which declared signals did not run.

    A reward that is missing beside others has no value, which fails the trial; a task that
    was not scored at all leaves its scoring to the Env, and its signals are only named.
    """
    for trace in record["traces"]:
        if trace["task"]["type"] != task_type or trace.get("errors"):
            continue
        rewards, metrics = not_run(signals, trace["id"])
        if len(rewards) < len(signals.rewards):
            trace["rewards"] |= dict.fromkeys(rewards)
            trace["metrics"] |= dict.fromkeys(metrics)
        else:
            trace["skipped"] = [*rewards, *metrics]


def unserved(task: vf.Task) -> str | None:
    """Why this task cannot be run here, in words."""
    if type(task).NEEDS_CONTAINER:
        return "it needs a container, which this sandbox is not"
    if task.data.image is not None:
        return f"it needs a container of image {task.data.image!r}, which this sandbox is not"
    if "*" not in task.data.network_allow or task.data.network_block:
        return "it needs a container with a network policy, which this sandbox is not"
    return None


@contextlib.asynccontextmanager
async def staged(task: vf.Task, trace: vf.Trace) -> AsyncIterator[vf.Runtime]:
    """A runtime of the task's own, set up as an agent would find it."""
    config = resolve_runtime_config(vf.SubprocessConfig(), task)
    async with provision_runtime(config) as runtime:
        runtime.env = dict(task.runtime_env())
        async with boundary(TaskError, "task setup"):
            await invoke(task.setup, {"trace": trace, "runtime": runtime})
        yield runtime


async def score(task: vf.Task, trace: vf.Trace, signals: Signals) -> None:
    """The task's own signals on a finished conversation, as a trial would run them."""
    if not signals.staged:
        await task.score(trace)
        return
    async with staged(task, trace) as runtime:
        async with boundary(TaskError, "task finalize"):
            await invoke(task.finalize, {"trace": trace, "runtime": runtime})
        await task.score(trace, runtime)


async def scored(
    task: vf.Task, trace: vf.Trace, signals: Signals, beyond: list[str]
) -> dict[str, Any]:
    """The signals' values, or what broke; `beyond` are signals that only an episode has."""
    token = ran.set({})
    try:
        await score(task, trace, signals)
        rewards, metrics = not_run(signals, trace.id)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one reply's failure is its result
        return {"error": problem_of(error.__cause__ or error), "skipped": beyond}
    finally:
        ran.reset(token)
    # Spelled out: a model of its own would turn NaN into null.
    told = {
        name: None if reward is None else {"score": reward.score, "weight": reward.weight}
        for name, reward in trace.rewards.items()
    }
    return {
        "rewards": {**told, **dict.fromkeys(rewards)},
        "metrics": trace.metrics,
        "skipped": [*rewards, *metrics, *beyond],
    }


async def validated(task: vf.Task) -> dict[str, Any]:
    """The task's own word on its gold."""
    result: dict[str, Any] = {"valid": None, "checked": False}
    if type(task).validate is not vf.Task.validate:
        result["checked"] = True
        try:
            async with staged(task, trace_of(task)) as runtime:
                result["valid"] = await invoke(task.validate, {"runtime": runtime})
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one task's failure is its result
            result["error"] = problem_of(error.__cause__ or error)
    return result


def trace_of(task: vf.Task, reply: str | None = None) -> vf.Trace:
    """A conversation in which the agent said `reply`; an empty one when it said nothing."""
    data = type(task.data)
    trace = vf.Trace[data, vf.State, vf.AgentConfig](
        task=vf.TraceTask[data](type=type(task).__name__, data=task.data, key=task.key),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        state=state_cls(type(task))(),
    )
    # As after an episode: what a reward could tell the two apart by is filled in.
    now = time.time()
    for span in (trace.timing.boot, trace.timing.setup, trace.timing.agent, trace.timing.finalize):
        span.start, span.end = now, now
    if reply is not None:
        trace.nodes = [
            MessageNode(message=vf.UserMessage(content=task.data.prompt_text), sampled=False),
            MessageNode(parent=0, message=vf.AssistantMessage(content=reply), sampled=True),
        ]
    return trace
