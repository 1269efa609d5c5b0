"""verifiers ≥ 0.4: which `Env` plays a taskset, its seats, and what `--arg` may set of both.

An argument of the taskset goes by its own name, one of its tasks by `task.<name>`, one of
the Env by `env.<name>`; `env.id` pairs the taskset with another Env than its own.
"""

import pkgutil
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined
from verifiers.v1 import envs
from verifiers.v1.configs.judge import judge_key
from verifiers.v1.utils.loaders import default_harness_id, taskset_config_type

from envwright_host.argument import refuse_unknown, tell
from envwright_host.server import MODEL, Refused

HARNESS = "envwright_chat"
ENV = "env."
ENVS_OF_CONTAINERS = ("verifiers.v1.envs.agentic_judge", "verifiers.v1.envs.isolated_verifier")
"""verifiers' Envs that grade in a container of their own, and whatever is made of them."""


def env_class(module: str, given: dict[str, Any]) -> type[vf.Env]:
    """The Env that `env.id` names, else the package's own, else the one of a single agent."""
    name = given.get(f"{ENV}id", "")
    if not isinstance(name, str):
        raise Refused("usage", f"argument 'env.id' is the name of an Env, not {name!r}")
    try:
        cls = vf.environment_class(module, name)
    except (ModuleNotFoundError, TypeError, AttributeError) as error:
        own = ", ".join(
            found.name.replace("_", "-") for found in pkgutil.iter_modules(envs.__path__)
        )
        raise Refused("usage", f"no Env {name!r}; verifiers has {own}") from error
    if any(base.__module__.startswith(ENVS_OF_CONTAINERS) for base in cls.__mro__):
        what = f"Env {name!r}" if name else f"its Env {cls.__name__}"
        raise Refused("usage", f"{what} grades in a container, which this sandbox is not")
    return cls


def load_env(module: str, given: dict[str, Any], turns: int) -> vf.Env:
    """The Env with its taskset, under these arguments; `Refused` names one that does not fit."""
    cls = env_class(module, given)
    config_type = vf.env_config_type(module, given.get(f"{ENV}id", ""))
    known = [*arguments_of(taskset_config_type(module)), *env_arguments(config_type)]
    refuse_unknown(given, known)
    try:
        return cls(environment_config(module, given, turns, config_type))
    except ValueError as error:
        if given and type(error).__name__ in ("ValidationError", "ConfigError"):
            raise Refused("usage", f"arguments {given!r}: {gist(error)}") from error
        raise


def environment_config(
    module: str, given: dict[str, Any], turns: int, config: type[vf.EnvConfig]
) -> vf.EnvConfig:
    """The Env's configuration: ours plays every seat, within our cap of turns."""
    own = {name.removeprefix(ENV): v for name, v in given.items() if name.startswith(ENV)}
    taskset = {name: value for name, value in given.items() if not name.startswith(ENV)}
    data = nested(own)
    for name, seat in seats_of(config).items():
        asked = data.get(name, {})
        most = asked.get("max_turns", seat.max_turns)
        data[name] = {
            **asked,
            "harness": {"id": HARNESS},
            "runtime": {"type": "subprocess"},
            "max_turns": min(most, turns) if isinstance(most, int) else most or turns,
        }
    own_taskset = {**nested(taskset), "id": module}
    return vf.resolve_env_config(
        {"id": "", "interception": {"type": "server"}, **data, "taskset": own_taskset}
    )


def nested(given: dict[str, Any]) -> dict[str, Any]:
    """`{"a.b": 1}` as `{"a": {"b": 1}}`."""
    made: dict[str, Any] = {}
    for name, value in given.items():
        *path, last = name.split(".")
        inner = made
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return made


def gist(error: ValueError) -> str:
    """What pydantic refuses, on one line and without its addresses."""
    if not isinstance(error, ValidationError):
        return str(error)
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)


def seats_of(config: type[vf.EnvConfig]) -> dict[str, vf.AgentConfig]:
    fields = config.model_fields.items()
    return {name: f.default for name, f in fields if isinstance(f.default, vf.AgentConfig)}


async def world_of(env: vf.Env) -> list[str]:
    """The seats that no trainer would train: an Env says so when it sets up."""

    def make(name: str, seat: vf.AgentConfig) -> vf.Agent:
        return vf.make_agent(seat.model_copy(update={"model": MODEL}))

    agents = vf.Agents(env.config, make)
    await env.setup(agents)
    return [name for name in seats_of(type(env.config)) if not getattr(agents, name).trainable]


def arguments_of(config: type[vf.TasksetConfig]) -> list[dict[str, Any]]:
    """What `--arg` may set of a taskset: its own fields, and its tasks' as `task.<name>`."""
    found = own_fields(config, vf.TasksetConfig)
    task_config = config.model_fields["task"].default
    if task_config is not None:
        found += own_fields(type(task_config), vf.TaskConfig, "task.")
    return found


def env_arguments(config: type[vf.EnvConfig]) -> list[dict[str, Any]]:
    """What `--arg` may set of the Env: which it is, its own fields, and each seat's turns.

    The rest of a seat's configuration is who plays it, and that is asked for otherwise.
    """
    seats = seats_of(config)
    found = [tell(f"{ENV}id", str, ""), *own_fields(config, vf.EnvConfig, ENV, without=seats)]
    if len(seats) > 1:
        turns = vf.AgentConfig.model_fields["max_turns"].annotation
        found += [tell(f"{ENV}{n}.max_turns", turns, seat.max_turns) for n, seat in seats.items()]
    return found


def own_fields(
    config: type[BaseModel], base: type[BaseModel], prefix: str = "", without: Any = ()
) -> list[dict[str, Any]]:
    """The fields that a config adds to its base; those of a config inside it by their path."""
    found: list[dict[str, Any]] = []
    for name, field in config.model_fields.items():
        if name in base.model_fields or name in without:
            continue
        default = field.get_default(call_default_factory=True)
        if prefix == ENV and isinstance(default, vf.BaseConfig):
            found += own_fields(type(default), vf.BaseConfig, f"{prefix}{name}.")
        else:
            shown = None if default is PydanticUndefined else default
            found.append(tell(f"{prefix}{name}", field.annotation, shown))
    return found


def judges_of(*configs: BaseModel) -> list[dict[str, Any]]:
    """Judges that can be known before anything runs: those that a configuration holds."""
    found = {judge["name"]: judge for config in configs for judge in judges_in(config, "judge")}
    return list(found.values())


def judges_in(value: Any, name: str) -> Iterator[dict[str, Any]]:
    if isinstance(value, vf.JudgeConfig):
        yield {"name": judge_key(value) or name, "model": value.model}
    elif isinstance(value, BaseModel):
        for field in type(value).model_fields:
            yield from judges_in(getattr(value, field), field)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from judges_in(each, name)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from judges_in(each, str(key))


def own_harness(module: str) -> str | None:
    """The harness that a package brings along; None when it leaves that to whoever runs it."""
    found = default_harness_id(module)
    return found if found == module else None
