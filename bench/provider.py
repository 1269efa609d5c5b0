"""An instant provider on loopback: `python bench/provider.py` prints its URL and serves.

It answers every chat completion at once with the same words, so that what is measured
is everything but the model.
"""

import asyncio
import json

from aiohttp import web

ANSWER = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "instant",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "The sum is 27."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26},
    }
).encode()


BASE = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "instant"}
EVENTS = (
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "The sum is 27."}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26}},
)
STREAM = b"".join(b"data: " + json.dumps({**BASE, **each}).encode() + b"\n\n" for each in EVENTS)


async def answer(request: web.Request) -> web.Response:
    if json.loads(await request.read()).get("stream"):
        return web.Response(body=STREAM + b"data: [DONE]\n\n", content_type="text/event-stream")
    return web.Response(body=ANSWER, content_type="application/json")


async def main() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
