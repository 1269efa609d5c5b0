"""What a sandbox sends, and the gateway's own word when it is not passed on."""

import json
from typing import Any, cast

from aiohttp import web

from envwright.record import Json

TOKEN = "x-envwright-token"


class Refusal(Exception):
    """An answer of the gateway's own: a status, a code and words."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def tokens_of(request: web.Request) -> tuple[str, ...]:
    """Ours, or what an SDK of some provider sends as its key."""
    headers = request.headers
    if (ours := headers.get(TOKEN)) is not None:
        return (ours,)
    bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
    return (headers.get("x-api-key", ""), bearer)


async def read_body(request: web.Request) -> Json:
    try:
        body: Any = json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "bad_request", f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise Refusal(400, "bad_request", "the body is no JSON object")
    return cast("Json", body)
