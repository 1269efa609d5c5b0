"""The OpenAI responses protocol.

Every event that carries the response so far is hidden like the response itself. A
response that failed inside a 200 is no answer; one that is cut short is, with its reason.
Does not serve background responses: there is nothing here to poll.
"""

from typing import Any

from envwright.gateway.wire import Wire, hosted_tool, openai_usage, without_names
from envwright.model import Model, Protocol
from envwright.record import Json, items, mapping
from envwright.trace import Usage

HIDDEN = ("service_tier", "system_fingerprint", "provider")
OWN_TOOLS = ("function", "custom", "local_shell", "apply_patch", "computer")
"""Those that the caller runs."""
ENDED = ("completed", "incomplete")


def outgoing(body: Json, model: Model) -> Json:
    return {**body, "model": model.model}


def unserved(body: Json) -> str | None:
    return "background responses are not served here" if body.get("background") else None


def hosted(body: Json) -> str | None:
    # A prompt that the provider keeps may hold tools of its own.
    return "a stored prompt" if body.get("prompt") else hosted_tool(body, OWN_TOOLS)


def hide(answer: Json, name: str) -> Json:
    return without_names(answer, name, HIDDEN)


def usage_of(answer: Json) -> Usage | None:
    return openai_usage(answer, "input_tokens", "output_tokens")


def finish_reason_of(answer: Json) -> str | None:
    status = answer.get("status")
    if status not in ENDED:
        return None
    why = mapping(answer.get("incomplete_details")).get("reason")
    return str(why or status)


def is_answer(answer: Any) -> bool:
    response = mapping(answer)
    status = response.get("status", "completed")
    return (
        isinstance(response.get("output"), list)
        and all(isinstance(item, dict) for item in items(response["output"]))
        and status in ENDED
        and not response.get("error")
    )


def asked(body: Json) -> list[Any]:
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else items(given)


def answer_in(event: Json) -> Json | None:
    response = event.get("response")
    return mapping(response) if isinstance(response, dict) else None


WIRE = Wire(
    protocol=Protocol.OPENAI_RESPONSES,
    path="/responses",
    greeting={"input": "Say hi.", "max_output_tokens": 16},
    outgoing=outgoing,
    hide=hide,
    is_answer=is_answer,
    usage_of=usage_of,
    finish_reason_of=finish_reason_of,
    asked=asked,
    said=lambda answer: items(answer.get("output")),
    answer_in=answer_in,
    unserved=unserved,
    hosted=hosted,
    last_events=frozenset({"response.completed", "response.incomplete"}),
)
