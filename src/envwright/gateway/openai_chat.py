"""The OpenAI chat protocol: what to send on, what to read out of the answer, what to hide.

Pure: bodies in, bodies out. The provider's model name and fingerprint are taken out of
every answer, for environment code could pay by name.
"""

from typing import Any

from envwright.model import Model
from envwright.record import Json, items, mapping
from envwright.trace import Usage

PATH = "/chat/completions"
MOST_TOKENS = 2**40
"""A number beyond this is no count of tokens."""
COUNTED = ("prompt_tokens", "completion_tokens")
HIDDEN = ("system_fingerprint", "provider", "service_tier")


def outgoing(body: Json, model: Model) -> Json:
    """The request as the provider gets it."""
    sent = {**body, "model": model.model}
    if sent.get("stream"):
        sent["stream_options"] = {**mapping(sent.get("stream_options")), "include_usage": True}
    return sent


def wants_usage(body: Json) -> bool:
    """Whether the caller itself asked for the closing usage event of a stream."""
    return bool(mapping(body.get("stream_options")).get("include_usage"))


def hide(answer: Json, name: str) -> Json:
    """The answer without the provider's names."""
    answer["model"] = name
    usage = mapping(answer.get("usage"))
    if usage and "total_tokens" not in usage:
        # Some leave it out, and clients refuse an answer without it.
        usage["total_tokens"] = sum(count(usage, n) or 0 for n in COUNTED)
    for field in HIDDEN:
        answer.pop(field, None)
    return answer


def usage_of(answer: Json) -> Usage | None:
    """The tokens as the provider counted them; None when it did not."""
    usage = mapping(answer.get("usage"))
    asked, said = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    if asked is None and said is None:
        return None
    return Usage(
        input_tokens=asked or 0,
        output_tokens=said or 0,
        cached_tokens=count(usage.get("prompt_tokens_details"), "cached_tokens") or 0,
        reasoning_tokens=count(usage.get("completion_tokens_details"), "reasoning_tokens") or 0,
    )


def count(holder: Any, name: str) -> int | None:
    value = mapping(holder).get(name)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def finish_reason_of(answer: Json) -> str | None:
    for choice in items(answer.get("choices")):
        reason = mapping(choice).get("finish_reason")
        return str(reason) if reason is not None else None
    return None


def is_answer(answer: Any) -> bool:
    """Whether the provider's 200 really holds a completion."""
    choices = items(mapping(answer).get("choices"))
    return bool(choices) and all(isinstance(mapping(c).get("message"), dict) for c in choices)
