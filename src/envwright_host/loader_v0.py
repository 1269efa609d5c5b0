"""verifiers 0.1 to 0.3: a package's `load_environment`, and what `--arg` may set of it."""

import importlib
import inspect
import typing
from collections.abc import Callable
from typing import Any

import verifiers as vf
from pydantic import PydanticUserError, TypeAdapter, ValidationError

from envwright_host.argument import tell
from envwright_host.server import Refused, lacking


def loader_of(module: str) -> Callable[..., vf.Environment]:
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (refusal := lacking(error, module)) is not None:
            raise refusal from error
        raise
    loader = getattr(imported, "load_environment", None)
    if not callable(loader):
        raise Refused(
            "environment",
            f"module {module} has no load_environment(), which verifiers 0.1 calls "
            f"(a taskset needs verifiers 0.4 or later)",
        )
    return loader


def named(parameters: Any) -> list[str]:
    """The parameters that can be given by name, `**more` left out."""
    loose = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [name for name, each in parameters.items() if each.kind not in loose]


def hints_of(loader: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(loader)
    except Exception:  # noqa: BLE001 - annotations are code of the environment's
        return {}


def arguments_of(loader: Any) -> list[dict[str, Any]]:
    """What `--arg` may set: the parameters of `load_environment`."""
    parameters, hints = inspect.signature(loader).parameters, hints_of(loader)
    return [
        tell(
            name,
            hints.get(name, Any),
            None
            if parameters[name].default is inspect.Parameter.empty
            else parameters[name].default,
        )
        for name in named(parameters)
    ]


def coerced(loader: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the types that they are annotated with, where those can be checked."""
    hints = hints_of(loader)
    values = dict(given)
    for name in given.keys() & hints.keys():
        try:
            values[name] = TypeAdapter(hints[name]).validate_python(given[name])
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise Refused("usage", f"argument {name!r}: {given[name]!r}: {why}") from error
        except PydanticUserError:
            continue
    return values
