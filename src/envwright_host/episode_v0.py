"""verifiers 0.1: a rollout told as the record of an episode, in the shape that 0.4 writes.

So our side has one reader. Times are the host's own: what a state says of them differs
among the versions.
"""

import time
import traceback
from typing import Any

import verifiers as vf

from envwright_host.client_v0 import SEAT, Unanswered

STOPS = {
    "max_turns_reached": "max_turns",
    "prompt_too_long": "context",
    "timeout_reached": "agent_timeout",
    "max_total_completion_tokens_reached": "max_output_tokens",
    "no_tools_called": "agent_completed",
}
"""0.1's words for an end in those of 0.4; any other is a rule of the environment's own."""

BOUNDARIES: tuple[tuple[type[BaseException], str], ...] = (
    (Unanswered, "ProviderError"),
    (vf.ToolError, "ToolsetError"),
    (vf.SandboxError, "SandboxError"),
)
"""0.1's errors as the boundary that 0.4 names; any other is the environment's."""


class Clock:
    """When each stage was reached; a stage lasts until the next."""

    def __init__(self) -> None:
        self.reached: dict[str, float] = {}

    def reach(self, stage: str) -> None:
        self.reached.setdefault(stage, time.time())

    def timing(self) -> dict[str, Any]:
        starts = list(self.reached.items())
        ends = [start for _, start in starts[1:]] + [time.time()]
        return {
            stage: {"start": start, "end": end}
            for (stage, start), end in zip(starts, ends, strict=True)
        }


def stop_of(env: vf.Environment, state: vf.State) -> str | None:
    said = state.get("stop_condition")
    if said == "max_turns_reached" and getattr(env, "max_turns", None) == 1:
        # It has had the one turn that there is.
        return "agent_completed"
    return STOPS.get(said, said)


def broke(error: BaseException) -> dict[str, Any]:
    """What ended a rollout, by the boundary that broke."""
    kind = next((name for cls, name in BOUNDARIES if isinstance(error, cls)), "EnvError")
    return problem(kind, str(error) or repr(error), error)


def broke_in_scoring(error: BaseException) -> dict[str, Any]:
    return problem("TaskError", f"scoring: {type(error).__name__}: {error}", error)


def problem(kind: str, message: str, error: BaseException) -> dict[str, Any]:
    told = "".join(traceback.format_exception(error))[-20_000:]
    return {"type": kind, "message": message, "traceback": told}


def nodes_of(state: vf.State) -> list[dict[str, Any]]:
    """The conversation; what an assistant said after the prompt was sampled."""
    asked = [{"message": message_of(each), "sampled": False} for each in listed(state, "prompt")]
    said = [message_of(each) for each in listed(state, "completion")]
    return asked + [{"message": each, "sampled": each["role"] == "assistant"} for each in said]


def listed(state: vf.State, name: str) -> list[Any]:
    """Messages, which may be one text."""
    value = state.get(name) or []
    role = "user" if name == "prompt" else "assistant"
    return [{"role": role, "content": value}] if isinstance(value, str) else list(value)


def message_of(message: Any) -> dict[str, Any]:
    """A message of verifiers', or one as OpenAI writes them."""
    raw = message if isinstance(message, dict) else message.model_dump(mode="json")
    calls = [
        call | call["function"] if isinstance(call.get("function"), dict) else call
        for call in raw.get("tool_calls") or []
    ]
    kept = ("role", "content", "reasoning_content", "tool_call_id", "name")
    told = {name: raw[name] for name in kept if raw.get(name) is not None}
    return {"role": "user"} | told | ({"tool_calls": calls} if calls else {})


def record_of(
    state: vf.State | None,
    signals: tuple[dict[str, Any], dict[str, Any]],
    stop: str | None,
    errors: list[dict[str, Any]],
    clock: Clock,
    tool_errors: list[str],
) -> dict[str, Any]:
    tools = [] if state is None else state.get("tool_defs") or []
    trace = {
        "agent": {"name": SEAT},
        "nodes": [] if state is None else nodes_of(state),
        "tools": [tool.model_dump(mode="json") for tool in tools],
        "rewards": signals[0],
        "metrics": signals[1],
        "stop_condition": stop,
        "errors": errors,
        "timing": clock.timing(),
        "info": {"tool_errors": tool_errors} if tool_errors else {},
    }
    return {"ok": not errors, "errors": [], "traces": [trace]}
