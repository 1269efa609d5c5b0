"""verifiers ≥ 0.4: load a package's taskset and Env, and answer
`describe, tasks, score, validate, run`.

Rewards are taken as they come, NaN included, and checked by whoever reads the answer:
this process is shared with environment code and vouches for nothing.
"""

import asyncio
import contextlib
import inspect
import sys
import time
from functools import partial
from typing import Any, Self

import verifiers.v1 as vf
from verifiers.v1.envs.single_agent import SingleAgentEnv
from verifiers.v1.errors import ToolsetError
from verifiers.v1.harnesses.utils import mcp
from verifiers.v1.mcp import launch
from verifiers.v1.utils.loaders import taskset_class

from envwright_host import chat, client_v1, door, signal_v1
from envwright_host.answer import spell
from envwright_host.dialect import Base
from envwright_host.env_v1 import (
    HARNESS,
    arguments_of,
    env_arguments,
    judges_of,
    load_env,
    own_harness,
    seats_of,
    world_of,
)
from envwright_host.gold import NoGoldError, best_of, gold_of, wordings
from envwright_host.server import MODEL, Phase, Refused, lacking
from envwright_host.signal_v1 import Signals, signals_of, trace_of, unserved
from envwright_host.speaker import voice_of
from envwright_host.tasks import Tasks

TOOL_START_SECONDS = 60
TOOL_ATTEMPTS = 2
"""Of a call to a tool server: it is on loopback, so one that does not answer is gone."""
FIRST_OF_ENDLESS = 64
"""Tasks to read of a taskset that calls itself endless, to see whether it is."""


class Dialect(Base):
    """One loaded revision."""

    taskset: vf.Taskset
    env: vf.Env
    loaded: Tasks[vf.Task]

    def __init__(self) -> None:
        super().__init__()
        self.signals: dict[tuple[type[vf.Task], int], Signals] = {}
        self.serving = asyncio.Lock()
        self.is_serving = False
        self.not_served: Exception | None = None

    async def __aenter__(self) -> Self:
        sys.modules[HARNESS] = chat
        mcp.MCP_CALL_ATTEMPTS = TOOL_ATTEMPTS
        launch._read_back_port = read_back_port
        client_v1.install()
        chat.install()
        signal_v1.watch_signals()
        return await super().__aenter__()

    async def load(self, args: dict[str, Any], phase: Phase) -> dict[str, Any]:
        module, given = args["module"], args["args"]
        try:
            cls = taskset_class(module)
        except ModuleNotFoundError as error:
            if (refusal := lacking(error, module)) is not None:
                raise refusal from error
            raise
        self.env = load_env(module, given, args["turns"])
        self.taskset = self.env.taskset
        self.loaded = Tasks(iter(self.taskset), row_of, "idx")
        if cls.task_type().NEEDS_CONTAINER:
            raise Refused("usage", "its tasks need a container, which this sandbox is not")
        return {}

    async def describe(self, args: dict[str, Any], phase: Phase) -> dict[str, Any]:
        declared = bool(type(self.taskset).INFINITE)
        self.loaded.read_to(FIRST_OF_ENDLESS if declared else None)
        read = self.loaded.read
        infinite = declared and len(read) == FIRST_OF_ENDLESS
        first = read[0] if read else None
        signals = None if first is None else self.signals_of(first)
        wanting = signals.wants_runtime if signals else ()
        config = type(self.env.config)
        return {
            "tasks": {
                "count": None if infinite else len(read),
                "infinite": infinite,
                "said_infinite": declared and not infinite,
            },
            "rewards": [
                {"name": name, "weight": weight, "runtime": name in wanting}
                for name, weight in ([] if first is None else weights_of(first))
            ],
            "metrics": list(signals.metrics) if signals else [],
            "tools": [name for toolset in self.toolsets() for name in tool_names(toolset)],
            "seats": list(seats_of(config)),
            "world": await world_of(self.env),
            "harness": own_harness(self.taskset.config.id),
            "episodic": is_episodic(self.env),
            "staged": bool(wanting),
            "judges": judges_of(self.env.config, *([] if first is None else [first.config])),
            "args": [*arguments_of(type(self.taskset.config)), *env_arguments(config)],
        }

    def toolsets(self) -> list[vf.Toolset]:
        config = self.taskset.config
        return [
            *self.taskset.toolsets(config),
            *type(self.taskset).task_type().toolsets(config.task),
        ]

    async def tasks(self, args: dict[str, Any], phase: Phase) -> list[dict[str, Any]]:
        rows = self.loaded.rows(args["start"], args["stop"], lambda task: task.data.prompt_text)
        return [{**row, "unserved": unserved(self.loaded.at(row["index"]))} for row in rows]

    async def score(self, args: dict[str, Any], phase: Phase) -> bytes:
        async def score_one(item: dict[str, Any]) -> dict[str, Any]:
            task = self.task_at(item)
            trace = trace_of(task, item["reply"])
            return await signal_v1.scored(task, trace, self.signals_of(task), self.beyond())

        token = door.token_of_trial.set(args.get("token"))
        try:
            return spell(await self.meter.measured(args["items"], score_one, phase))
        finally:
            door.token_of_trial.reset(token)

    async def validate(self, args: dict[str, Any], phase: Phase) -> bytes:
        async def validate_one(item: dict[str, Any]) -> dict[str, Any]:
            task = self.task_at(item)
            checked = await signal_v1.validated(task)
            if not args.get("untouched", True):
                return checked
            noop = signal_v1.scored(task, trace_of(task), self.signals_of(task), self.beyond())
            return {**checked, "noop": await noop}

        token = door.token_of_trial.set(args.get("token"))
        try:
            return spell(await self.meter.measured(args["items"], validate_one, phase))
        finally:
            door.token_of_trial.reset(token)

    def task_at(self, item: dict[str, Any]) -> vf.Task:
        """The task of a call; `Refused` when it cannot be served here."""
        task = self.loaded.at(item["index"], item.get("key"))
        if (why := unserved(task)) is not None:
            raise Refused("usage", f"task {item['index']}: {why}")
        return task

    def signals_of(self, task: vf.Task) -> Signals:
        """The same for tasks of one type and config; a config lives as long as its task."""
        same = (type(task), id(task.config))
        if same not in self.signals:
            self.signals[same] = signals_of(task)
        return self.signals[same]

    def beyond(self) -> list[str]:
        """Judgement over whole episodes, which a single reply does not get."""
        env = type(self.env)
        return [] if env.finalize is vf.Env.finalize else [f"{env.__name__}.finalize"]

    async def run(self, args: dict[str, Any], phase: Phase) -> bytes:
        task = self.task_at(args)
        voice = await voice_of(args["agent"], partial(self.gold_reply, task))
        limits = args["limits"]
        context = vf.ModelContext(
            model=MODEL,
            client=vf.EvalClientConfig(base_url=door.gateway_url(), api_key_var="OPENAI_API_KEY"),
            sampling=vf.SamplingConfig.model_validate(args["sampling"]),
        )
        await self.serve()
        deadline = time.monotonic() + limits["wall_seconds"]
        played = frozenset(args.get("played", ()))
        run = chat.Run(args["token"], voice, played, deadline, limits["scoring_seconds"])
        chat.current_run.set(run)
        door.token_of_trial.set(args["token"])
        signal_v1.ran.set({})
        own = self.env.config.timeout
        own.finalize = chat.least(own.finalize, limits["scoring_seconds"])
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
        record = episode.to_record()
        signal_v1.mark_skipped(self.signals_of(task), record, type(task).__name__)
        return spell(record)

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
        if judges_of(self.env.config, task.config) or task.toolsets(task.config):
            return said[0]

        async def reward_of(wording: str) -> float:
            trace = trace_of(task, wording)
            await signal_v1.score(task, trace, self.signals_of(task))
            return trace.reward

        return await best_of(said, reward_of)


def is_episodic(env: vf.Env) -> bool:
    """Whether an Env of the environment's own has more to say than one agent's one run."""
    own = type(env)
    plain = own.run is SingleAgentEnv.run and own.finalize is vf.Env.finalize
    return not plain or len(seats_of(type(env.config))) > 1


async def read_back_port(runtime: vf.Runtime, path: str) -> int:
    """The port that a tool server reports; verifiers itself would wait three times as long."""
    for _ in range(TOOL_START_SECONDS * 5):
        with contextlib.suppress(Exception):
            said = (await runtime.read(path)).decode().strip()
            if said.isdigit():
                return int(said)
        await asyncio.sleep(0.2)
    raise ToolsetError(f"a tool server did not start within {TOOL_START_SECONDS} s")


def weights_of(task: vf.Task) -> list[tuple[str, float]]:
    rewards = [(fn.__name__, getattr(fn, "_vf_weight", 1.0)) for fn in task.hooks("reward")]
    judges = [(judge.reward_name, judge.config.weight) for judge in task.plugged_judges()]
    return [*rewards, *judges]


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
