"""Who speaks for an agent that asks no model: nobody, a script, or an oracle with the gold."""

from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from typing import Any

from envwright_host.server import Refused

Speaker = Callable[[list[dict[str, Any]]], dict[str, Any]]
"""Given the conversation, the reply."""

Gold = Callable[[str | None], Awaitable[str]]
"""Given the field that holds the gold, if one was named, the words that say it."""


Voice = Callable[[], Speaker]
"""A speaker for one conversation; every conversation has its own."""


async def voice_of(agent: dict[str, Any], gold: Gold) -> Voice | None:
    """None when a model is to be asked."""
    match agent["kind"]:
        case "chat":
            return None
        case "noop":
            return lambda: lambda messages: {"content": ""}
        case "scripted":
            return lambda: script(agent["replies"], last_again=agent.get("last_again", False))
        case "oracle":
            said = await gold(agent.get("gold_field"))
            return lambda: lambda messages: {"content": said}
        case kind:
            raise Refused("ours", f"no agent {kind!r} in this host")


def script(replies: list[dict[str, Any]], *, last_again: bool = False) -> Speaker:
    """Replies in order; an empty one when they are used up, or the last one again."""
    queue = chain(replies, repeat(replies[-1])) if last_again and replies else iter(replies)
    count = iter(range(1, 1_000_000))

    def speak(messages: list[dict[str, Any]]) -> dict[str, Any]:
        reply = next(queue, None)
        if reply is None:
            return {"content": ""}
        calls = [
            {
                "id": f"call_{next(count)}",
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in reply.get("tool_calls", [])
        ]
        return {"content": reply.get("content"), **({"tool_calls": calls} if calls else {})}

    return speak
