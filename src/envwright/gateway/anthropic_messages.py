"""The Anthropic messages protocol, and its count of tokens.

Anthropic counts cache reads and writes apart from the input; here they are part of it,
as everywhere else. A stream tells its input first and its output last.
"""

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from envwright.gateway.wire import Wire, count, hosted_tool, nothing_hosted, without_names
from envwright.model import Model, Protocol
from envwright.record import Json, items, mapping
from envwright.trace import Usage

VERSION = "2023-06-01"
OWN_TOOLS = ("custom", "function", "bash_", "text_editor_", "computer_", "memory_")
"""Those that the caller runs; one without a type is among them."""
HIDDEN = ("provider",)
HIDDEN_IN_USAGE = ("service_tier", "inference_geo")
ERROR_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def outgoing(body: Json, model: Model) -> Json:
    return {**body, "model": model.model}


def headers(model: Model, key: str | None) -> dict[str, str]:
    sent = {"anthropic-version": VERSION}
    if key:
        sent["x-api-key"] = key
        # Anthropic takes a bearer for something else than a key; other servers want one.
        if urlsplit(model.base_url).hostname != "api.anthropic.com":
            sent["authorization"] = f"Bearer {key}"
    return sent


def hosted(body: Json) -> str | None:
    if body.get("mcp_servers"):
        return "mcp_servers"
    typed = [tool for tool in items(body.get("tools")) if mapping(tool).get("type") is not None]
    return hosted_tool({"tools": typed}, OWN_TOOLS)


def hide(answer: Json, name: str) -> Json:
    if isinstance(answer.get("usage"), dict):
        for field in HIDDEN_IN_USAGE:
            answer["usage"].pop(field, None)
    # The end of a stream names no model.
    return without_names(answer, name, HIDDEN) if "model" in answer else answer


def usage_of(answer: Json) -> Usage | None:
    usage = mapping(answer.get("usage"))
    asked, said = count(usage, "input_tokens"), count(usage, "output_tokens")
    if asked is None or said is None:
        return None
    read = count(usage, "cache_read_input_tokens") or 0
    written = count(usage, "cache_creation_input_tokens") or 0
    return Usage(
        input_tokens=asked + read + written,
        output_tokens=said,
        cached_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=count(usage.get("output_tokens_details"), "thinking_tokens") or 0,
    )


def finish_reason_of(answer: Json) -> str | None:
    reason = answer.get("stop_reason")
    return str(reason) if reason is not None else None


def is_answer(answer: Any) -> bool:
    message = mapping(answer)
    content = message.get("content")
    blocks = isinstance(content, list) and all(isinstance(block, dict) for block in items(content))
    return blocks and message.get("role") == "assistant" and not message.get("error")


def answer_in(event: Json) -> Json | None:
    if event.get("type") == "message_start":
        return mapping(event.get("message"))
    if event.get("type") == "message_delta":
        reason = mapping(event.get("delta")).get("stop_reason")
        return {"usage": event.get("usage"), "stop_reason": reason}
    return None


def error(status: int, code: str, message: str) -> Json:
    kind = ERROR_TYPES.get(status) or ("api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message, "code": code}}


WIRE = Wire(
    protocol=Protocol.ANTHROPIC,
    path="/messages",
    greeting={"messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 16},
    outgoing=outgoing,
    hide=hide,
    is_answer=is_answer,
    usage_of=usage_of,
    finish_reason_of=finish_reason_of,
    asked=lambda body: items(body.get("messages")),
    said=lambda answer: [answer],
    answer_in=answer_in,
    last_events=frozenset({"message_stop"}),
    hosted=hosted,
    error=error,
    headers=headers,
    passed=("anthropic-version", "anthropic-beta"),
)


def is_count(answer: Any) -> bool:
    return count(answer, "input_tokens") is not None


def usage_of_counting(answer: Json) -> Usage:
    return Usage()


def said_by_counting(answer: Json) -> list[Any]:
    return []


COUNT = replace(
    WIRE,
    path="/messages/count_tokens",
    is_answer=is_count,
    usage_of=usage_of_counting,
    said=said_by_counting,
    hosted=nothing_hosted,
    # An agent that cannot have its count goes on without it.
    vital=False,
)
