"""The one way out of a host: model calls to the gateway, canned replies without it.

verifiers asks its client for a completion; this client sends it to the gateway with
the trial's token and the seat, or answers with the reply that a scripted seat has
ready. Calls that environment code makes itself (`OPENAI_BASE_URL`,
`ANTHROPIC_BASE_URL`) carry the token of the trial they are made in, through a context
variable under httpx and under httpx2, which newer SDKs use.
"""

import importlib
import os
from collections.abc import Mapping
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

import aiohttp
from pydantic_core import from_json, to_json
from verifiers.v1 import clients
from verifiers.v1.clients.client import RelayReply
from verifiers.v1.dialects import Dialect
from verifiers.v1.errors import model_error
from verifiers.v1.interception import server as interception
from verifiers.v1.types import Response

TOKEN = "x-envwright-token"
SEAT = "x-envwright-seat"
REPLY = "x-envwright-reply"
PASSED = (TOKEN, SEAT, "anthropic-version", "anthropic-beta")
"""What the gateway reads of an intercepted request's headers."""

token_of_trial: ContextVar[str | None] = ContextVar("token_of_trial", default=None)


def gateway_url() -> str:
    return os.environ["OPENAI_BASE_URL"]


class Session:
    """One aiohttp session for the host, made inside its loop."""

    _session: aiohttp.ClientSession | None = None

    @classmethod
    def get(cls) -> aiohttp.ClientSession:
        if cls._session is None:
            cls._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                # No read timeout: the trial's own deadline is the backstop.
                timeout=aiohttp.ClientTimeout(total=None, connect=30),
                auto_decompress=True,
            )
        return cls._session

    @classmethod
    async def close(cls) -> None:
        if cls._session is not None:
            await cls._session.close()
            cls._session = None


class Replies:
    """Replies that wait for the intercepted request that will ask for them."""

    _waiting: dict[str, dict[str, Any]] = {}
    _next = 0

    @classmethod
    def put(cls, message: dict[str, Any]) -> str:
        cls._next += 1
        key = str(cls._next)
        cls._waiting[key] = message
        return key

    @classmethod
    def take(cls, key: str) -> dict[str, Any]:
        return cls._waiting.pop(key)


class Door(clients.Client):
    """verifiers' client of this host, in place of the one that would hold a key."""

    async def get_response(
        self,
        dialect: Dialect,
        body: dict[str, Any],
        sampling: Any,
        session_id: str | None = None,
        turn: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        headers = headers or {}
        if (key := headers.get(REPLY)) is not None:
            return parse(dialect, completion(Replies.take(key), body))
        raw = await self.post(dialect, body, headers)
        try:
            return parse(dialect, raw)
        except ValueError as error:
            raise model_error(f"malformed answer: {error}", status_code=502) from error

    async def post(
        self, dialect: Dialect, body: dict[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        url = clients_url(dialect)
        try:
            async with Session.get().post(
                url, data=to_json(body, inf_nan_mode="null"), headers=outgoing(headers)
            ) as answer:
                content = await answer.read()
                if answer.status >= 400:
                    text = content.decode("utf-8", "replace")
                    raise model_error(text, status_code=answer.status)
        except aiohttp.ClientError as error:
            raise model_error(f"{type(error).__name__}: {error}", status_code=503) from error
        try:
            return from_json(content)
        except ValueError as error:
            raise model_error(f"malformed answer: {error}", status_code=502) from error

    async def relay(
        self,
        dialect: Dialect,
        body: dict[str, Any],
        session_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> RelayReply:
        answer = await Session.get().post(
            clients_url(dialect), data=to_json(body), headers=outgoing(headers or {})
        )
        if answer.status >= 400:
            text = (await answer.read()).decode("utf-8", "replace")
            answer.release()
            raise model_error(text, status_code=answer.status)

        async def chunks():
            buffer = b""
            async for chunk in answer.content.iter_any():
                buffer += chunk
                while (end := buffer.find(b"\n\n")) >= 0:
                    yield buffer[: end + 2]
                    buffer = buffer[end + 2 :]
            if buffer:
                yield buffer

        async def close() -> None:
            answer.close()

        return RelayReply(content_type=answer.content_type, chunks=chunks(), close=close)


def parse(dialect: Dialect, raw: dict[str, Any]) -> Response:
    response = dialect.parse_response(dialect.validate_response(raw))
    response.raw = raw
    return response


def clients_url(dialect: Dialect) -> str:
    return (
        gateway_url().removesuffix("/v1")
        + "/v1/"
        + dialect.upstream_path.strip("/").removeprefix("v1/")
    )


def outgoing(headers: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name in PASSED if (value := headers.get(name)) is not None}
    return {"content-type": "application/json", **kept}


def completion(message: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """A chat completion that says `message`; it used no tokens, for no model was asked."""
    return {
        "id": "canned",
        "object": "chat.completion",
        "created": 0,
        "model": str(body.get("model", "")),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def install() -> None:
    """Put the door in place of verifiers' own client, and the trial's token under httpx."""
    interception.resolve_client = lambda config: Door()  # type: ignore[assignment]
    clients_there = [importlib.import_module(n) for n in ("httpx", "httpx2") if find_spec(n)]
    for cls in (c for module in clients_there for c in (module.Client, module.AsyncClient)):
        original = cls.build_request

        def build_request(
            self: Any, method: str, url: Any, *, _original: Any = original, **rest: Any
        ) -> Any:
            request = _original(self, method, url, **rest)
            token = token_of_trial.get()
            if token and str(request.url).startswith(gateway_url()):
                request.headers.setdefault(TOKEN, token)
            return request

        cls.build_request = build_request  # type: ignore[method-assign]
