"""A provider on loopback that answers as it is told, and remembers what it was asked."""

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
    usage_details: dict[str, Any] = field(default_factory=dict)
    """More fields of the usage, such as `prompt_tokens_details`."""
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
        usage = {
            "prompt_tokens": reply.usage[0],
            "completion_tokens": reply.usage[1],
            "total_tokens": sum(reply.usage),
            **reply.usage_details,
        }
        if body.get("stream"):
            return await self.stream(request, reply, usage, body)
        message = {"role": "assistant", "content": reply.content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "system_fingerprint": "secret-fingerprint",
                "choices": [choice],
                "usage": usage,
            }
        )

    async def stream(
        self, request: web.Request, reply: Reply, usage: dict[str, Any], body: dict[str, Any]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        base["system_fingerprint"] = "secret-fingerprint"
        for word in re.findall(r"\s*\S+\s*", reply.content):
            delta = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            await send(response, {**base, "choices": [delta]})
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        await send(response, {**base, "choices": [last]})
        if (body.get("stream_options") or {}).get("include_usage"):
            await send(response, {**base, "choices": [], "usage": usage})
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response


async def send(response: web.StreamResponse, event: dict[str, Any]) -> None:
    await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")


@contextmanager
def provider(answer: Answer = lambda body: Reply()) -> Iterator[Provider]:
    served = Provider(answer)
    loop = asyncio.new_event_loop()
    runner_ready = threading.Event()
    stop = asyncio.Event()

    async def main() -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", served.handle)
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
