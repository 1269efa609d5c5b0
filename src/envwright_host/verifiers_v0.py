"""verifiers 0.1: load a package's `load_environment()`, and answer `describe, tasks, score, run`.

It serves 0.2 and 0.3 too, which keep that interface. It has one seat. A trial is one
rollout, so a group reward sees a group of one, as under `vf-eval -r 1`, and `describe`
says which rewards those are. Rewards are taken as they come, NaN included, and checked
by whoever reads the answer: this process is shared with environment code and vouches
for nothing.
"""

import asyncio
import functools
import inspect
from functools import partial
from typing import Any, Literal, Self

import verifiers as vf
from pydantic_core import to_jsonable_python

from envwright_host import door, rubric_v0
from envwright_host.answer import spell
from envwright_host.argument import refuse_unknown, tell
from envwright_host.client_v0 import SEAT, Door, Run, current_run
from envwright_host.dialect import Base
from envwright_host.episode_v0 import Clock, broke, broke_in_scoring, listed, record_of, stop_of
from envwright_host.gold import NoGoldError, best_of, gold_of, wordings
from envwright_host.loader_v0 import arguments_of, coerced, loader_of, named
from envwright_host.server import MODEL, Phase, Refused, problem_of
from envwright_host.speaker import voice_of
from envwright_host.tasks import Row, Tasks

SPLIT = "split"
"""Our own argument, for an environment that has both sets of tasks and no argument of that name."""

NOTHING: tuple[dict[str, Any], dict[str, Any]] = ({}, {})


class Dialect(Base):
    """One loaded revision; its runs share nothing that could break."""

    env: vf.Environment
    loaded: Tasks[Row]
    client: Door

    def __init__(self) -> None:
        super().__init__()
        self.arguments: list[dict[str, Any]] = []
        self.count = 0
        self.turns = 1

    async def __aenter__(self) -> Self:
        rubric_v0.install()
        self.client = Door()
        self.stack.push_async_callback(self.client.close)
        return await super().__aenter__()

    async def load(self, args: dict[str, Any], phase: Phase) -> dict[str, Any]:
        module, given = args["module"], dict(args["args"])
        loader = loader_of(module)
        parameters = inspect.signature(loader).parameters
        self.arguments = arguments_of(loader)
        split = None if SPLIT in parameters else given.pop(SPLIT, None)
        if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
            refuse_unknown(given, self.arguments)
        for name, each in parameters.items():
            if each.default is each.empty and name not in given and name in named(parameters):
                raise Refused("usage", f"it must be given the argument {name!r}")
        self.env = loader(**coerced(loader, given))
        if not isinstance(self.env, vf.Environment):
            kind = type(self.env).__name__
            raise Refused("environment", f"load_environment() returned a {kind}, no Environment")
        if any(cls.__module__.startswith("verifiers.v1") for cls in type(self.env).__mro__):
            raise Refused(
                "usage",
                "its load_environment() returns an Env of verifiers.v1 as it was before 0.4, "
                "which is not served",
            )
        self.env.env_id = self.env.env_id or module
        self.env.env_args = self.env.env_args or given
        for leaf in leaves(self.env):
            remember_tools(leaf)
        self.turns = args["turns"]
        dataset = self.choose(split, own=SPLIT in parameters)
        self.count = len(dataset)
        self.loaded = Tasks(iter(dataset), row_of, "example_id")
        return {}

    def choose(self, split: str | None, *, own: bool) -> Any:
        """The tasks of this split, those for evaluation unless told otherwise."""
        both = self.env.build_dataset() is not None and self.env.build_eval_dataset() is not None
        if both and not own:
            self.arguments.append(tell(SPLIT, Literal["eval", "train"], "eval"))
        elif split is not None:
            raise Refused("usage", f"no argument {SPLIT!r}: it has one set of tasks")
        if split not in (None, "eval", "train"):
            raise Refused("usage", f"argument {SPLIT!r} is eval or train, not {split!r}")
        return self.env.get_dataset() if split == "train" else self.env.get_eval_dataset()

    async def describe(self, args: dict[str, Any], phase: Phase) -> dict[str, Any]:
        weights: dict[str, float] = {}
        shared: set[str] = set()
        for leaf in leaves(self.env):
            weights |= rubric_v0.weights_of(leaf.rubric)
            shared |= rubric_v0.shared_by_a_group(leaf.rubric)
        tools = [tool.name for leaf in leaves(self.env) for tool in leaf.tool_defs or []]
        return {
            "tasks": {"count": self.count, "infinite": False},
            "rewards": [
                {"name": name, "weight": weight, "group": name in shared}
                for name, weight in weights.items()
                if weight
            ],
            "metrics": [name for name, weight in weights.items() if not weight],
            "tools": list(dict.fromkeys(tools)),
            "seats": [SEAT],
            "episodic": any(is_episodic(leaf) for leaf in leaves(self.env)),
            "judges": [
                each for leaf in leaves(self.env) for each in rubric_v0.judges_of(leaf.rubric)
            ],
            "args": self.arguments,
        }

    async def tasks(self, args: dict[str, Any], phase: Phase) -> list[Row]:
        return self.loaded.rows(args["start"], args["stop"], prompt_text)

    async def score(self, args: dict[str, Any], phase: Phase) -> bytes:
        token = door.token_of_trial.set(args.get("token"))
        try:
            return spell(await self.meter.measured(args["items"], self.score_one, phase))
        finally:
            door.token_of_trial.reset(token)

    async def score_one(self, item: dict[str, Any]) -> dict[str, Any]:
        row = self.loaded.at(item["index"], item.get("key"))
        try:
            env, state = await self.scored(row, item["reply"])
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one reply's failure is its result
            return {"error": problem_of(error), "skipped": []}
        rewards, metrics = rubric_v0.signals_of(env.rubric, state)
        return {"rewards": rewards, "metrics": metrics, "skipped": []}

    async def scored(self, row: Row, reply: str) -> tuple[vf.Environment, vf.State]:
        """A rollout in which the agent said `reply` and nothing else, scored.

        It is set up as any other: rewards may read what only a setup puts there.
        """
        env, routed = leaf_of(self.env, row)
        run = Run("", lambda _: {"content": reply}, turns=1, begin=lambda: None)
        state, error = await self.roll(env, routed, run, {}, None)
        if error is not None:
            said = f"the environment broke before its rewards ran: {type(error).__name__}: {error}"
            raise Refused("environment", said) from error
        if state is None or run.asked == 0:
            raise Refused("environment", "its rollout ended before the agent was asked")
        await rubric_v0.score(env.rubric, state)
        return env, state

    async def run(self, args: dict[str, Any], phase: Phase) -> bytes:
        row = self.loaded.at(args["index"], args["key"])
        voice = await voice_of(args["agent"], partial(self.gold_reply, row))
        clock = Clock()

        def reach(stage: str) -> None:
            clock.reach(stage)
            phase(stage)

        turns = min(self.turns, args["limits"].get("turns", self.turns))
        run = Run(args["token"], voice and voice(), turns, begin=lambda: reach("agent"))
        door.token_of_trial.set(args["token"])
        env, routed = leaf_of(self.env, row)
        reach("setup")
        limits = args["limits"]
        state, error = await self.roll(env, routed, run, args["sampling"], limits["wall_seconds"])
        errors = [] if error is None else [broke(error)]
        stop = run.stop or (None if state is None else stop_of(env, state))
        if stop == "agent_timeout" and run.asked == 0:
            stop = "setup_timeout"
        signals = NOTHING
        if state is not None and not errors and stop != "setup_timeout":
            reach("scoring")
            signals, stop = await self.grade(env, state, stop, errors, limits)
        return spell(record_of(state, signals, stop, errors, clock, run.tool_errors))

    async def roll(
        self,
        env: vf.Environment,
        row: Row,
        run: Run,
        sampling: dict[str, Any],
        seconds: float | None,
    ) -> tuple[vf.State | None, BaseException | None]:
        """The state that the rollout left, and what broke it; our own caps break nothing.

        Time is kept here: a rollout that is the environment's own keeps none, nor did 0.1.11.
        """
        current_run.set(run)
        own = getattr(env, "sampling_args", None) or {}
        try:
            async with asyncio.timeout(seconds) as patience:
                state = await env.rollout(row, self.client, MODEL, {**own, **sampling})
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - environment code
            if patience.expired() and isinstance(error, TimeoutError):
                run.stop = "agent_timeout"
            elif run.stop is None or not isinstance(error, vf.OverlongPromptError):
                return run.state, error
            return run.ended(), None
        if patience.expired():
            run.stop = "agent_timeout"
        return state, state.get("error")

    async def grade(
        self,
        env: vf.Environment,
        state: vf.State,
        stop: str | None,
        errors: list[dict[str, Any]],
        limits: dict[str, float],
    ) -> tuple[tuple[dict[str, Any], dict[str, Any]], str | None]:
        """The signals and the stop; what scoring raised joins the errors."""
        try:
            async with asyncio.timeout(limits["scoring_seconds"]) as patience:
                await rubric_v0.score(env.rubric, state)
            signals = rubric_v0.signals_of(env.rubric, state)
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - environment code
            if patience.expired():
                return NOTHING, "scoring_timeout"
            errors.append(broke_in_scoring(error))
            return NOTHING, stop
        return signals, stop

    async def gold_reply(self, row: Row, field: str | None) -> str:
        """The gold in the first wording that the task's own rewards score highest."""
        told = row_of(row)
        try:
            said = wordings(gold_of(told, field), request_text(told))
        except NoGoldError as error:
            raise Refused("agent", str(error)) from error
        env, _ = leaf_of(self.env, row)
        if any(isinstance(member, vf.JudgeRubric) for member in rubric_v0.members(env.rubric)):
            return said[0]

        async def reward_of(wording: str) -> float:
            _, state = await self.scored(row, wording)
            return float(state["reward"])

        return await best_of(said, reward_of)


def leaves(env: vf.Environment) -> list[vf.Environment]:
    """The environments that a group is made of, itself when it is none."""
    if isinstance(env, vf.EnvGroup):
        return [leaf for each in env.envs for leaf in leaves(each)]
    return [env]


def remember_tools(env: vf.Environment) -> None:
    """Note in the run what a tool raises, before verifiers makes a text of it."""

    def remembering(name: str, tool: Any) -> Any:
        @functools.wraps(tool)
        async def call(*given: Any, **named: Any) -> Any:
            try:
                result = tool(*given, **named)
                return await result if inspect.isawaitable(result) else result
            except Exception as error:
                current_run.get().tool_errors.append(f"{name}: {type(error).__name__}: {error}")
                raise

        return call

    tools = getattr(env, "tool_map", None)
    if isinstance(tools, dict):
        env.tool_map = {name: remembering(name, tool) for name, tool in tools.items()}


def is_episodic(env: vf.Environment) -> bool:
    """Whether it may answer what the agent says."""
    return not isinstance(env, vf.SingleTurnEnv) and env_turns(env) != 1


def env_turns(env: vf.Environment) -> int | None:
    """How many turns it allows by itself; None when it does not say, or allows any number."""
    said = getattr(env, "max_turns", None)
    return said if isinstance(said, int) and said > 0 else None


def leaf_of(env: vf.Environment, row: Row) -> tuple[vf.Environment, Row]:
    """The environment of a group that a row belongs to, and the row as it knows it."""
    while isinstance(env, vf.EnvGroup):
        name, row, _ = env._route_child_input(row)
        env = env.get_env_for_name(name)
    return env, row


def row_of(row: Row) -> Row:
    """The row as JSON; what is none (a picture, a date) is spelled."""
    return to_jsonable_python(row, fallback=str)


def texts(row: Row, *, system: bool) -> list[str]:
    messages = [each for each in listed(row, "prompt") if isinstance(each, dict)]
    kept = [each for each in messages if system or each.get("role") != "system"]
    return [each["content"] if isinstance(each.get("content"), str) else "" for each in kept]


def prompt_text(row: Row) -> str:
    return "\n\n".join(texts(row, system=False))


def request_text(row: Row) -> str:
    return "\n".join(texts(row, system=True))
