"""The OpenAI chat protocol.

The provider's model name and fingerprint are taken out of every answer, for
environment code could pay by name. The closing usage event of a stream is always asked
for, and shown to callers that asked for it themselves.
"""

from typing import Any

from envwright.gateway.wire import Wire, count, hosted_tool, openai_usage, without_names
from envwright.model import Model, Protocol
from envwright.record import Json, items, mapping
from envwright.trace import Usage

COUNTED = ("prompt_tokens", "completion_tokens")
SEARCHES = ("web_search_options", "search_parameters", "plugins")
"""What asks a provider, or one of its kin, to search."""
HIDDEN = ("system_fingerprint", "provider", "service_tier")


def outgoing(body: Json, model: Model) -> Json:
    sent = {**body, "model": model.model}
    if model.provider == "openai" and "max_tokens" in sent:
        # The old name, which its reasoning models refuse.
        sent.setdefault("max_completion_tokens", sent.pop("max_tokens"))
    if sent.get("stream"):
        sent["stream_options"] = {**mapping(sent.get("stream_options")), "include_usage": True}
    return sent


def unasked(event: Json, body: Json) -> bool:
    wanted = mapping(body.get("stream_options")).get("include_usage")
    return not wanted and not event.get("choices") and usage_of(event) is not None


def hosted(body: Json) -> str | None:
    asked = next((name for name in SEARCHES if body.get(name) is not None), None)
    return asked or hosted_tool(body, ("function", "custom"))


def hide(answer: Json, name: str) -> Json:
    usage = mapping(answer.get("usage"))
    if usage and "total_tokens" not in usage:
        # Some leave it out, and clients refuse an answer without it.
        usage["total_tokens"] = sum(count(usage, n) or 0 for n in COUNTED)
    return without_names(answer, name, HIDDEN)


def usage_of(answer: Json) -> Usage | None:
    return openai_usage(answer, *COUNTED)


def finish_reason_of(answer: Json) -> str | None:
    for choice in items(answer.get("choices")):
        reason = mapping(choice).get("finish_reason")
        return str(reason) if reason is not None else None
    return None


def is_answer(answer: Any) -> bool:
    choices = items(mapping(answer).get("choices"))
    return bool(choices) and all(isinstance(mapping(c).get("message"), dict) for c in choices)


WIRE = Wire(
    protocol=Protocol.OPENAI_CHAT,
    path="/chat/completions",
    greeting={"messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 16},
    outgoing=outgoing,
    hide=hide,
    is_answer=is_answer,
    usage_of=usage_of,
    finish_reason_of=finish_reason_of,
    asked=lambda body: items(body.get("messages")),
    said=lambda answer: [mapping(c).get("message") for c in items(answer.get("choices"))[:1]],
    answer_in=lambda event: event,
    unasked=unasked,
    hosted=hosted,
)
