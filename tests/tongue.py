"""The caller's side of each protocol: how to ask, and where in the answer the words are."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envwright.model import Protocol


@dataclass(frozen=True)
class Tongue:
    protocol: Protocol
    path: str
    ask: Callable[[str], dict[str, Any]]
    """The request that says this."""
    words: Callable[[dict[str, Any]], str]
    """Of a whole answer."""
    delta: Callable[[dict[str, Any]], str]
    """Of one event."""
    half: dict[str, Any]
    """An event that says `half`."""
    last: str
    """What a stream ends with."""
    finish: str
    holder: Callable[[dict[str, Any]], dict[str, Any] | None]
    """Where an event names the model."""
    hidden: tuple[str, ...]
    """What of the whole answer is not passed on, besides the model's name."""

    def __str__(self) -> str:
        return self.protocol

    def question(self, **more: Any) -> dict[str, Any]:
        return {"model": "policy", **self.ask("?"), **more}

    def content(self, text: str) -> str:
        """The words in what a caller received."""
        events = events_in(text)
        return "".join(map(self.delta, events)) if events else self.words(json.loads(text))


def events_in(text: str) -> list[dict[str, Any]]:
    lines = [line[5:].strip() for line in text.split("\n") if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def chat_delta(event: dict[str, Any]) -> str:
    return "".join(choice["delta"].get("content") or "" for choice in event.get("choices", []))


def parts(content: list[dict[str, Any]]) -> str:
    return "".join(part.get("text", "") for part in content)


CHAT = Tongue(
    protocol=Protocol.OPENAI_CHAT,
    path="/chat/completions",
    ask=lambda text: {"messages": [{"role": "user", "content": text}]},
    words=lambda answer: answer["choices"][0]["message"]["content"],
    delta=chat_delta,
    half={"choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": None}]},
    last="data: [DONE]\n\n",
    finish="stop",
    holder=lambda event: event,
    hidden=("system_fingerprint",),
)
RESPONSES = Tongue(
    protocol=Protocol.OPENAI_RESPONSES,
    path="/responses",
    ask=lambda text: {"input": [{"role": "user", "content": text}]},
    words=lambda answer: "".join(parts(item.get("content", [])) for item in answer["output"]),
    delta=lambda event: event["delta"] if "output_text.delta" in event["type"] else "",
    half={"type": "response.output_text.delta", "delta": "half"},
    last="}\n\n",
    finish="completed",
    holder=lambda event: event.get("response"),
    hidden=("service_tier",),
)
MESSAGES = Tongue(
    protocol=Protocol.ANTHROPIC,
    path="/messages",
    ask=lambda text: {"max_tokens": 99, "messages": [{"role": "user", "content": text}]},
    words=lambda answer: parts(answer["content"]),
    delta=lambda event: event.get("delta", {}).get("text", ""),
    half={"type": "content_block_delta", "index": 0, "delta": {"text": "half"}},
    last='event: message_stop\ndata: {"type": "message_stop"}\n\n',
    finish="end_turn",
    holder=lambda event: event.get("message"),
    hidden=(),
)
TONGUES = (CHAT, RESPONSES, MESSAGES)
