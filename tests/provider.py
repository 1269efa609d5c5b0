"""A provider on loopback that answers as it is told, and remembers what it was asked.

It speaks OpenAI chat, OpenAI responses and Anthropic messages, each at its own path.
"""

import asyncio
import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Answer = Callable[[dict[str, Any]], "Reply"]


@dataclass(frozen=True)
class Reply:
    content: str = "ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """In place of a completion."""
    delay: float = 0.0
    usage: tuple[int, int] = (10, 5)
    """Input, of which the cache is a part, and output."""
    cached: int = 0
    written: int = 0
    """Into the cache."""
    reasoning: int = 0
    tool: tuple[str, dict[str, Any]] | None = None
    """A call of this tool with these arguments, beside the content."""
    act: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None
    """In place of everything: speak HTTP by hand."""


@dataclass
class Provider:
    """Runs in a thread of its own, so that it serves commands and tests alike."""

    answer: Answer = lambda body: Reply()
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    in_flight: int = 0
    most_in_flight: int = 0
    aborted: int = 0
    """Requests whose caller went away before the answer."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self.reply(request, body)
        except (asyncio.CancelledError, ConnectionError):
            self.aborted += 1
            raise
        finally:
            self.in_flight -= 1

    async def reply(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        reply = self.answer(body)
        await asyncio.sleep(reply.delay)
        if reply.act is not None:
            return await reply.act(request)
        if reply.body is not None or reply.status != 200:
            error = json.dumps({"error": {"message": reply.content}}).encode()
            text = error if reply.body is None else reply.body
            return web.Response(body=text, status=reply.status, headers=reply.headers)
        speech = SPEECHES[request.path.partition("/v1")[2]](reply, body["model"])
        if not body.get("stream"):
            return web.json_response(speech.answer)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        wants_usage = (body.get("stream_options") or {}).get("include_usage")
        for event in speech.events:
            if event.get("choices") != [] or wants_usage:
                await send(response, event)
        if speech.done:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response


@dataclass(frozen=True)
class Speech:
    """A reply in one protocol, whole and as a stream."""

    answer: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False


def words_of(reply: Reply) -> list[str]:
    return re.findall(r"\s*\S+\s*", reply.content)


def chat(reply: Reply, model: str) -> Speech:
    usage: dict[str, Any] = {
        "prompt_tokens": reply.usage[0],
        "completion_tokens": reply.usage[1],
        "total_tokens": sum(reply.usage),
        "prompt_tokens_details": {
            "cached_tokens": reply.cached,
            "cache_write_tokens": reply.written,
        },
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning},
    }
    base = {"id": "x", "created": 1, "model": model, "system_fingerprint": "secret-fingerprint"}
    calls: dict[str, Any] = {}
    if reply.tool:
        function = {"name": reply.tool[0], "arguments": json.dumps(reply.tool[1])}
        calls = {"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]}
    message = {"role": "assistant", "content": reply.content, **calls}
    finish = "tool_calls" if calls else "stop"
    deltas = [*({"content": word} for word in words_of(reply)), *([calls] if calls else [])]
    chunk = {**base, "object": "chat.completion.chunk"}
    return Speech(
        {
            **base,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage,
        },
        [
            *(
                {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
                for delta in deltas
            ),
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**chunk, "choices": [], "usage": usage},
        ],
        done=True,
    )


def responses(reply: Reply, model: str) -> Speech:
    part = {"type": "output_text", "text": reply.content, "annotations": []}
    message: dict[str, Any] = {
        **{"type": "message", "id": "m", "role": "assistant", "status": "completed"},
        "content": [part],
    }
    output = [message]
    if reply.tool:
        call = {"type": "function_call", "id": "f", "call_id": "c", "status": "completed"}
        output.append({**call, "name": reply.tool[0], "arguments": json.dumps(reply.tool[1])})
    begun: dict[str, Any] = {
        **{"id": "x", "object": "response", "created_at": 1, "model": model},
        **{"service_tier": "secret-fingerprint", "error": None, "incomplete_details": None},
        **{"parallel_tool_calls": True, "tool_choice": "auto", "tools": []},
        **{"status": "in_progress", "output": [], "usage": None},
    }
    usage = {
        "input_tokens": reply.usage[0],
        "input_tokens_details": {
            "cached_tokens": reply.cached,
            "cache_write_tokens": reply.written,
        },
        "output_tokens": reply.usage[1],
        "output_tokens_details": {"reasoning_tokens": reply.reasoning},
        "total_tokens": sum(reply.usage),
    }
    ended = {**begun, "status": "completed", "output": output, "usage": usage}
    at = {"item_id": "m", "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**message, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **at, "part": empty},
        *(
            {"type": "response.output_text.delta", **at, "delta": word, "logprobs": []}
            for word in words_of(reply)
        ),
        {"type": "response.output_text.done", **at, "text": reply.content, "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
        *(
            {"type": "response.output_item.done", "output_index": n, "item": item}
            for n, item in enumerate(output)
        ),
        {"type": "response.completed", "response": ended},
    ]
    return Speech(ended, [{**event, "sequence_number": n} for n, event in enumerate(events)])


def messages(reply: Reply, model: str) -> Speech:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.content}]
    if reply.tool:
        name, given = reply.tool
        blocks.append({"type": "tool_use", "id": "c", "name": name, "input": given})
    finish = "tool_use" if reply.tool else "end_turn"
    asked = {
        "input_tokens": reply.usage[0] - reply.cached - reply.written,
        "cache_read_input_tokens": reply.cached,
        "cache_creation_input_tokens": reply.written,
        "service_tier": "secret-fingerprint",
    }
    said = {
        "output_tokens": reply.usage[1],
        "output_tokens_details": {"thinking_tokens": reply.reasoning},
    }
    message: dict[str, Any] = {
        **{"id": "x", "type": "message", "role": "assistant", "model": model},
        **{"content": blocks, "stop_reason": finish, "stop_sequence": None},
        "usage": {**asked, **said},
    }
    begun = {"content": [], "stop_reason": None, "usage": {**asked, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, **begun}}]
    for index, block in enumerate(blocks):
        tool = block["type"] == "tool_use"
        empty = {**block, "input": {}} if tool else {**block, "text": ""}
        deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": w} for w in words_of(reply)]
        if tool:
            text = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": text}]
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "ping"},
            *({"type": "content_block_delta", "index": index, "delta": d} for d in deltas),
            {"type": "content_block_stop", "index": index},
        ]
    ending = {"stop_reason": finish, "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ending, "usage": said},
        {"type": "message_stop"},
    ]
    return Speech(message, events)


def counting(reply: Reply, model: str) -> Speech:
    return Speech({"input_tokens": reply.usage[0]})


SPEECHES: dict[str, Callable[[Reply, str], Speech]] = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": messages,
    "/messages/count_tokens": counting,
}


async def send(response: web.StreamResponse, event: dict[str, Any]) -> None:
    name = f"event: {event['type']}\n" if "type" in event else ""
    await response.write(f"{name}data: {json.dumps(event)}\n\n".encode())


@contextmanager
def provider(answer: Answer = lambda body: Reply()) -> Iterator[Provider]:
    served = Provider(answer)
    loop = asyncio.new_event_loop()
    runner_ready = threading.Event()
    stop = asyncio.Event()

    async def main() -> None:
        app = web.Application(client_max_size=2**26)
        for path in SPEECHES:
            app.router.add_post(f"/v1{path}", served.handle)
        runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        served.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        runner_ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    runner_ready.wait(10)
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
