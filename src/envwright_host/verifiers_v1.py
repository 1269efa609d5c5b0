"""verifiers ≥ 0.4: load a package's taskset and Env, and answer `describe, tasks, score, run`.

Rewards are taken as they come, NaN included, and checked by whoever reads the answer:
this process is shared with environment code and vouches for nothing.
"""

import asyncio
import contextlib
import inspect
import sys
from functools import partial
from types import TracebackType
from typing import Any

import verifiers.v1 as vf
from pydantic import ValidationError
from verifiers.v1.errors import ToolsetError
from verifiers.v1.graph import MessageNode
from verifiers.v1.harnesses.utils import mcp
from verifiers.v1.mcp import launch
from verifiers.v1.state import state_cls
from verifiers.v1.utils.loaders import taskset_class, taskset_config_type

from envwright_host import chat, client_v1, door
from envwright_host.answer import spell
from envwright_host.argument import refuse_unknown, tell
from envwright_host.gold import NoGoldError, best_of, gold_of, wordings
from envwright_host.server import MODEL, Call, Phase, Refused, lacking, problem_of
from envwright_host.speaker import speaker_of
from envwright_host.tasks import Tasks

HARNESS = "envwright_chat"
TOOL_START_SECONDS = 60
TOOL_ATTEMPTS = 2
"""Of a call to a tool server: it is on loopback, so one that does not answer is gone."""


class Dialect:
    """One loaded revision."""

    taskset: vf.Taskset
    env: vf.Env
    loaded: Tasks[vf.Task]

    def __init__(self) -> None:
        self.skipped: dict[type[vf.Task], list[str]] = {}
        self.stack = contextlib.AsyncExitStack()
        self.serving = asyncio.Lock()
        self.is_serving = False
        self.not_served: Exception | None = None
        self.tired = False
        """Something that all runs share is broken; a fresh process should take over."""

    async def __aenter__(self) -> "Dialect":
        sys.modules[HARNESS] = chat
        mcp.MCP_CALL_ATTEMPTS = TOOL_ATTEMPTS
        launch._read_back_port = read_back_port
        client_v1.install()
        door.carry_tokens()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stack.aclose()
        await door.Session.close()

    def calls(self) -> dict[str, Call]:
        return {
            "load": self.load,
            "describe": self.describe,
            "tasks": self.tasks,
            "score": self.score,
            "run": self.run,
        }

    async def load(self, args: dict[str, Any], phase: Phase) -> dict[str, Any]:
        module, given = args["module"], args["args"]
        try:
            cls = taskset_class(module)
        except ModuleNotFoundError as error:
            if (refusal := lacking(error, module)) is not None:
                raise refusal from error
            raise
        config_type = taskset_config_type(module)
        refuse_unknown(given, arguments_of(config_type))
        try:
            self.env = vf.load_environment(environment_config(module, given, args["turns"]))
        except ValueError as error:
            if given and type(error).__name__ in ("ValidationError", "ConfigError"):
                raise Refused("usage", f"arguments {given!r}: {gist(error)}") from error
            raise
        self.taskset = self.env.taskset
        self.loaded = Tasks(iter(self.taskset), row_of, "idx")
        if cls.task_type().NEEDS_CONTAINER:
            raise Refused("usage", "its tasks need a container, which this sandbox is not")
        return {}

    async def describe(self, args: dict[str, Any], phase: Phase) -> dict[str, Any]:
        infinite = bool(type(self.taskset).INFINITE)
        self.loaded.read_to(1 if infinite else None)
        read = self.loaded.read
        first = read[0] if read else None
        rewards = [] if first is None else first.hooks("reward")
        judges = [] if first is None else first.plugged_judges()
        task_type = type(self.taskset).task_type()
        toolsets = [
            *self.taskset.toolsets(self.taskset.config),
            *task_type.toolsets(self.taskset.config.task),
        ]
        return {
            "tasks": {"count": None if infinite else len(read), "infinite": infinite},
            "rewards": [
                *(
                    {"name": fn.__name__, "weight": getattr(fn, "_vf_weight", 1.0)}
                    for fn in rewards
                ),
                *({"name": judge.reward_name, "weight": judge.config.weight} for judge in judges),
            ],
            "metrics": [] if first is None else [fn.__name__ for fn in first.hooks("metric")],
            "tools": [name for toolset in toolsets for name in tool_names(toolset)],
            "seats": list(seats_of(type(self.env.config))),
            "args": arguments_of(type(self.taskset.config)),
        }

    async def tasks(self, args: dict[str, Any], phase: Phase) -> list[dict[str, Any]]:
        return self.loaded.rows(args["start"], args["stop"], lambda task: task.data.prompt_text)

    async def score(self, args: dict[str, Any], phase: Phase) -> bytes:
        phase("scoring")
        token = door.token_of_trial.set(args.get("token"))
        try:
            results = [await self.score_one(item) for item in args["items"]]
        finally:
            door.token_of_trial.reset(token)
        return spell(results)

    async def score_one(self, item: dict[str, Any]) -> dict[str, Any]:
        task = self.loaded.at(item["index"], item.get("key"))
        trace = trace_of(task, item["reply"])
        skipped = self.skipped_without_runtime(task)
        try:
            await task.score(trace)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one reply's failure is its result
            return {"error": problem_of(error.__cause__ or error), "skipped": skipped}
        # Spelled out: a model of its own would turn NaN into null.
        rewards = {
            name: None if reward is None else {"score": reward.score, "weight": reward.weight}
            for name, reward in trace.rewards.items()
        }
        return {"rewards": rewards, "metrics": trace.metrics, "skipped": skipped}

    def skipped_without_runtime(self, task: vf.Task) -> list[str]:
        """The same for every task of a type: they share their config."""
        if type(task) not in self.skipped:
            self.skipped[type(task)] = signals_that_need_a_runtime(task)
        return self.skipped[type(task)]

    async def run(self, args: dict[str, Any], phase: Phase) -> bytes:
        task = self.loaded.at(args["index"], args["key"])
        speaker = await speaker_of(args["agent"], partial(self.gold_reply, task))
        limits = args["limits"]
        task = task.with_data(timeout=capped(task.data.timeout, limits))
        context = vf.ModelContext(
            model=MODEL,
            client=vf.EvalClientConfig(base_url=door.gateway_url(), api_key_var="OPENAI_API_KEY"),
            sampling=vf.SamplingConfig.model_validate(args["sampling"]),
        )
        await self.serve()
        chat.current_run.set(chat.Run(token=args["token"], speaker=speaker))
        door.token_of_trial.set(args["token"])
        reached: set[tuple[str, str]] = set()

        def watch(trace: vf.Trace) -> None:
            for name in ("setup", "agent", "finalize", "scoring"):
                if getattr(trace.timing, name).start and (trace.id, name) not in reached:
                    reached.add((trace.id, name))
                    phase(name)

        episode = await self.env.run_episode(task, context, on_trace=lambda t: t.watch(watch))
        self.tired = self.tired or any(
            error.type == "ToolsetError" for trace in episode.traces for error in trace.errors
        )
        return spell(episode.to_record())

    async def serve(self) -> None:
        """Start what all runs share (tool servers, interception) when the first one comes."""
        async with self.serving:
            if self.not_served is not None:
                # What did not start will not start for the next run: it fails at once.
                raise self.not_served
            if self.is_serving:
                return
            try:
                await self.stack.enter_async_context(self.env.serving())
                self.is_serving = True
            except Exception as error:
                self.not_served = error
                raise

    async def gold_reply(self, task: vf.Task, field: str | None) -> str:
        """The gold in the first wording that the task's own rewards score highest."""
        row = row_of(task)
        try:
            said = wordings(gold_of(row, field), request_of(task))
        except NoGoldError as error:
            raise Refused("agent", str(error)) from error
        if task.plugged_judges() or task.toolsets(task.config):
            return said[0]

        async def reward_of(wording: str) -> float:
            trace = trace_of(task, wording)
            await task.score(trace)
            return trace.reward

        return await best_of(said, reward_of)


async def read_back_port(runtime: vf.Runtime, path: str) -> int:
    """The port that a tool server reports; verifiers itself would wait three times as long."""
    for _ in range(TOOL_START_SECONDS * 5):
        with contextlib.suppress(Exception):
            said = (await runtime.read(path)).decode().strip()
            if said.isdigit():
                return int(said)
        await asyncio.sleep(0.2)
    raise ToolsetError(f"a tool server did not start within {TOOL_START_SECONDS} s")


def environment_config(module: str, given: dict[str, Any], turns: int) -> vf.EnvConfig:
    taskset: dict[str, Any] = {"id": module}
    for name, value in given.items():
        head, _, rest = name.partition(".")
        if rest:
            taskset.setdefault(head, {})[rest] = value
        else:
            taskset[name] = value
    seat = {
        "harness": {"id": HARNESS},
        "runtime": {"type": "subprocess"},
        "max_turns": turns,
    }
    seats = {name: seat for name in seats_of(vf.env_config_type(module, ""))}
    return vf.resolve_env_config(
        {"id": "", "taskset": taskset, "interception": {"type": "server"}, **seats}
    )


def gist(error: ValueError) -> str:
    """What pydantic refuses, on one line and without its addresses."""
    if not isinstance(error, ValidationError):
        return str(error)
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)


def seats_of(config: type[vf.EnvConfig]) -> list[str]:
    fields = config.model_fields.items()
    return [name for name, field in fields if isinstance(field.default, vf.AgentConfig)]


def arguments_of(config: type[vf.TasksetConfig]) -> list[dict[str, Any]]:
    """What `--arg` may set: the taskset's own fields, and its tasks' as `task.<name>`."""
    base = vf.TasksetConfig.model_fields
    found = [argument(n, f) for n, f in config.model_fields.items() if n not in base]
    task_config = config.model_fields["task"].default
    if task_config is not None:
        fields = type(task_config).model_fields
        found += [
            argument(f"task.{n}", f)
            for n, f in fields.items()
            if n not in vf.TaskConfig.model_fields
        ]
    return found


def argument(name: str, field: Any) -> dict[str, Any]:
    return tell(name, field.annotation, field.get_default(call_default_factory=True))


def tool_names(toolset: vf.Toolset) -> list[str]:
    prefix = toolset.server_name
    names = [
        getattr(member, "tool_name", None) or name
        for name, member in inspect.getmembers(type(toolset), callable)
        if getattr(member, "tool", False)
    ]
    return [f"{prefix}_{name}" if prefix else name for name in names]


def row_of(task: vf.Task) -> dict[str, Any]:
    """The task's content: what verifiers itself adds to every row is left out while unset."""
    unset = {
        name
        for name, field in vf.TaskData.model_fields.items()
        if getattr(task.data, name) == field.get_default(call_default_factory=True)
    }
    return task.data.model_dump(mode="json", exclude_none=True, exclude=unset)


def request_of(task: vf.Task) -> str:
    return f"{task.data.system_prompt or ''}\n{task.data.prompt_text}"


def signals_that_need_a_runtime(task: vf.Task) -> list[str]:
    def needs(fn: Any) -> bool:
        parameter = inspect.signature(fn).parameters.get("runtime")
        return parameter is not None and parameter.default is inspect.Parameter.empty

    signals = [*task.hooks("metric"), *task.hooks("reward")]
    judges = [judge.reward_name for judge in task.plugged_judges() if needs(judge.score)]
    return [fn.__name__ for fn in signals if needs(fn)] + judges


def trace_of(task: vf.Task, reply: str) -> vf.Trace:
    """A finished conversation in which the agent said `reply`."""
    data = type(task.data)
    trace = vf.Trace[data, vf.State, vf.AgentConfig](
        task=vf.TraceTask[data](type=type(task).__name__, data=task.data, key=task.key),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        state=state_cls(type(task))(),
    )
    trace.nodes = [
        MessageNode(message=vf.UserMessage(content=task.data.prompt_text), sampled=False),
        MessageNode(parent=0, message=vf.AssistantMessage(content=reply), sampled=True),
    ]
    return trace


def capped(own: Any, limits: dict[str, float]) -> Any:
    """The task's own timeouts, none of them beyond ours."""

    def least(mine: float | None, ours: float) -> float:
        return ours if mine is None else min(mine, ours)

    wall = limits["wall_seconds"]
    return type(own)(
        setup=least(own.setup, wall),
        agent=least(own.agent, wall),
        finalize=least(own.finalize, limits["scoring_seconds"]),
        scoring=least(own.scoring, limits["scoring_seconds"]),
    )
