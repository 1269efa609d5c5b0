"""The one way out of a host: model calls to the gateway, canned replies without it.

What every dialect's client needs: a session to the gateway, the trial's token and the
seat as headers, a completion made of a reply that is known already. Calls that
environment code makes itself (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`) carry the token
of the trial they are made in, through a context variable under whichever httpx its SDK
uses.
"""

import importlib
import importlib.util
import os
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import aiohttp
from pydantic_core import from_json, to_json

TOKEN = "x-envwright-token"
SEAT = "x-envwright-seat"
PASSED = (TOKEN, SEAT, "anthropic-version", "anthropic-beta")
"""What the gateway reads of an intercepted request's headers."""

STOPS_THAT_ARE_SCORED = {"context_length_exceeded": "context", "envwright_budget": "budget"}
"""Refusals of the gateway that end the agent's work but not the measurement."""

HTTP_CLIENTS = ("httpx", "httpx2")
"""What the OpenAI SDK speaks through: the first before its version 3, the second since."""

token_of_trial: ContextVar[str | None] = ContextVar("token_of_trial", default=None)


class UnansweredError(Exception):
    """The gateway gave no completion."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def gateway_url() -> str:
    return os.environ["OPENAI_BASE_URL"]


def scored_stop(text: str) -> str | None:
    """The stop that the gateway's refusal stands for, if the trial is scored all the same."""
    return next((stop for code, stop in STOPS_THAT_ARE_SCORED.items() if code in text), None)


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


async def post(url: str, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """The gateway's JSON answer; `UnansweredError` with its status when there is none."""
    try:
        async with Session.get().post(
            url, data=to_json(body, inf_nan_mode="null"), headers=outgoing(headers)
        ) as answer:
            content = await answer.read()
            if answer.status >= 400:
                raise UnansweredError(content.decode("utf-8", "replace"), answer.status)
    except aiohttp.ClientError as error:
        raise UnansweredError(f"{type(error).__name__}: {error}", 503) from error
    try:
        return from_json(content)
    except ValueError as error:
        raise UnansweredError(f"malformed answer: {error}", 502) from error


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


def carry_tokens() -> None:
    """Put the trial's token under the HTTP clients that environment code uses itself."""
    for name in HTTP_CLIENTS:
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(name)
        for cls in (module.Client, module.AsyncClient):
            original = cls.build_request

            def build_request(
                self: Any, method: str, url: Any, *, _original: Any = original, **rest: Any
            ) -> Any:
                request = _original(self, method, url, **rest)
                token = token_of_trial.get()
                if token and str(request.url).startswith(gateway_url()):
                    request.headers.setdefault(TOKEN, token)
                return request

            cls.build_request = build_request
