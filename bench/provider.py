"""A provider on loopback: `python -m bench.provider [WORKLOAD]` prints its URL and serves.

It answers every chat completion with the same words, so that what is measured is everything
but the model: at once, or as a workload file says. `GET /tally` says what it was asked.
"""

import asyncio
import json
import math
import sys
import time
from dataclasses import asdict, dataclass

from aiohttp import web

from bench.workload import Limited, Workload, read_workload

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


@dataclass
class Tally:
    """Of one model."""

    begun_at: float = 0.0
    answered: int = 0
    refused: int = 0
    seconds: float = 0.0
    """Of all answers together."""
    flying: int = 0
    most_flying: int = 0


class Provider:
    def __init__(self, workload: Workload | None) -> None:
        self.workload = workload
        self.limited: dict[str, Limited | None] = (
            {load.name: load.limited for load in workload.models} if workload else {}
        )
        self.tallies: dict[str, Tally] = {}

    async def answer(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        if self.workload is not None and (refusal := await self.take_time(self.workload, body)):
            return refusal
        if body.get("stream"):
            return web.Response(body=STREAM + b"data: [DONE]\n\n", content_type="text/event-stream")
        return web.Response(body=ANSWER, content_type="application/json")

    async def take_time(self, workload: Workload, body: dict[str, object]) -> web.Response | None:
        name = str(body["model"])
        tally = self.tallies.setdefault(name, Tally(begun_at=time.time()))
        limited = self.limited.get(name)
        wait = limited.wait(time.time() - tally.begun_at) if limited else 0.0
        if wait > 0:
            tally.refused += 1
            headers = {
                "retry-after": str(math.ceil(wait)),
                "retry-after-ms": str(math.ceil(wait * 1000)),
            }
            return web.json_response(
                {"error": {"message": "rate limit", "code": "rate_limit_exceeded"}},
                status=429,
                headers=headers,
            )
        seconds = workload.seconds_of(json.dumps(body["messages"]).encode())
        tally.flying += 1
        tally.most_flying = max(tally.most_flying, tally.flying)
        try:
            await asyncio.sleep(seconds)
        finally:
            tally.flying -= 1
        tally.answered += 1
        tally.seconds += seconds
        return None

    async def tell(self, _: web.Request) -> web.Response:
        return web.json_response({name: asdict(each) for name, each in self.tallies.items()})


async def main() -> None:
    provider = Provider(read_workload(sys.argv[1]) if sys.argv[1:] else None)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", provider.answer)
    app.router.add_get("/v1/tally", provider.tell)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
