"""`Wire`: what the gateway knows of one protocol.

Pure: bodies in, bodies out. A protocol is a value of this type in a file of its own;
nothing is translated from one into another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envwright.model import Model, Protocol
from envwright.record import Json, items, mapping
from envwright.trace import Usage

MOST_TOKENS = 2**40
"""A number beyond this is no count of tokens."""


def nothing_unasked(event: Json, body: Json) -> bool:
    return False


def all_served(body: Json) -> str | None:
    return None


def nothing_hosted(body: Json) -> str | None:
    return None


def hosted_tool(body: Json, ours: tuple[str, ...]) -> str | None:
    """The type of a tool that the caller does not run itself; `ours` are how its own begin."""
    for tool in items(body.get("tools")):
        kind = mapping(tool).get("type")
        if not (isinstance(kind, str) and kind.startswith(ours)):
            return f"a tool of type {str(kind)[:80]!r}"
    return None


def openai_error(status: int, code: str, message: str) -> Json:
    return {"error": {"message": message, "type": code, "code": code}}


def bearer(model: Model, key: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    protocol: Protocol
    path: str
    """Behind the base URL."""
    greeting: Json
    """A short request, to try a model out."""
    outgoing: Callable[[Json, Model], Json]
    """The request as the provider gets it."""
    hide: Callable[[Json, str], Json]
    """An answer without the provider's names."""
    is_answer: Callable[[Any], bool]
    """Whether the provider's 200 really holds an answer."""
    usage_of: Callable[[Json], Usage | None]
    """An answer's tokens as the provider counted them; None when it did not."""
    finish_reason_of: Callable[[Json], str | None]
    asked: Callable[[Json], list[Any]]
    """The messages of a request."""
    said: Callable[[Json], list[Any]]
    """The messages of an answer."""
    answer_in: Callable[[Json], Json | None]
    """The part of an answer that a stream's event carries, for `hide` and what reads answers."""
    last_events: frozenset[str] = frozenset()
    """Types of the event that ends a stream; where events have no type, `[DONE]` does."""
    unasked: Callable[[Json, Json], bool] = nothing_unasked
    """Whether this event of a stream is there for us alone, given the caller's request."""
    unserved: Callable[[Json], str | None] = all_served
    """Why this request is not served here."""
    hosted: Callable[[Json], str | None] = nothing_hosted
    """What this request asks the provider to run, with whatever network that has."""
    error: Callable[[int, str, str], Json] = openai_error
    """The body of an error: its status, code and words."""
    headers: Callable[[Model, str | None], dict[str, str]] = bearer
    """What a provider wants besides the body, its key above all."""
    passed: tuple[str, ...] = ()
    """The caller's headers that reach the provider."""
    vital: bool = True
    """A request that is never answered spoils its trial."""


def count(holder: Any, name: str) -> int | None:
    value = mapping(holder).get(name)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def openai_usage(answer: Json, asked: str, said: str) -> Usage | None:
    """Tokens in the shape that OpenAI's protocols share; only their names differ.

    Half of it is none: what is missing would count as nothing.
    """
    usage = mapping(answer.get("usage"))
    input_tokens, output_tokens = count(usage, asked), count(usage, said)
    if input_tokens is None or output_tokens is None:
        return None
    details = usage.get(f"{asked}_details")
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_tokens=count(details, "cached_tokens") or 0,
        cache_write_tokens=count(details, "cache_write_tokens") or 0,
        reasoning_tokens=count(usage.get(f"{said}_details"), "reasoning_tokens") or 0,
    )


def without_names(answer: Json, name: str, hidden: tuple[str, ...]) -> Json:
    answer["model"] = name
    for field in hidden:
        answer.pop(field, None)
    return answer


def text_of(content: Any) -> str:
    """The words of a message's content, in whichever of its shapes."""
    if isinstance(content, str):
        return content
    parts = [mapping(part).get("text") for part in items(content)]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts else str(content or "")
