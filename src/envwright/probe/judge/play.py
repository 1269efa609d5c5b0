"""A judge on loopback that says what it is told to say, and remembers what it was asked."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from envwright.gateway import text_of
from envwright.model import Model, RetryPolicy
from envwright.record import items, mapping

LARGEST_BYTES = 32 * 2**20


@dataclass(slots=True)
class Played:
    model: Model
    says: str = ""
    heard: list[str] = field(default_factory=list[str])
    """All that each request said."""


@asynccontextmanager
async def played_judge() -> AsyncGenerator[Played]:
    async def answer(request: web.Request) -> web.Response:
        body = mapping(await request.json())
        messages = [mapping(each) for each in items(body.get("messages"))]
        played.heard.append("\n".join(text_of(each.get("content")) for each in messages))
        message = {"role": "assistant", "content": played.says}
        told: dict[str, Any] = {
            "id": "played",
            "object": "chat.completion",
            "created": 0,
            "model": played.model.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        return web.json_response(told)

    app = web.Application(client_max_size=LARGEST_BYTES)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        model = Model(
            name="envwright/judge",
            base_url=f"http://127.0.0.1:{port}/v1",
            model="judge",
            free=True,
            retry=RetryPolicy(attempts=1),
        )
        played = Played(model)
        yield played
    finally:
        await runner.cleanup()
