"""verifiers ≥ 0.4: its client, in place of the one that would hold a key.

verifiers asks its client for a completion; this one sends it to the gateway with the
trial's token and the seat, or answers with the reply that a scripted seat has ready.
"""

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from verifiers.v1 import clients, judge
from verifiers.v1.clients.client import RelayReply
from verifiers.v1.dialects import Dialect
from verifiers.v1.errors import model_error
from verifiers.v1.interception import server as interception
from verifiers.v1.types import Response

from envwright_host import door
from envwright_host.door import TOKEN, Session, completion, gateway_url, outgoing, token_of_trial

REPLY = "x-envwright-reply"


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
        try:
            return await door.post(clients_url(dialect), body, headers)
        except door.UnansweredError as error:
            raise model_error(str(error), status_code=error.status) from error

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


def install() -> None:
    """Put it in place of verifiers' own client, and the gateway before every judge."""
    interception.resolve_client = lambda config: Door()  # type: ignore[assignment]
    original = judge.build_async_openai

    def build_async_openai(config: Any) -> Any:
        # Whatever endpoint a judge was written for, its model is the one that it is given.
        ours = {"base_url": gateway_url(), "headers": {}, "headers_from_env": {}}
        return original(config.model_copy(update=ours))

    judge.build_async_openai = build_async_openai
    handle = interception.InterceptionServer.handle_request

    async def handle_request(self: Any, request: Any, dialect: Dialect) -> Any:
        # Hooks on a model's turn run here, in a task of the server's: theirs is the caller's trial.
        token_of_trial.set(request.headers.get(TOKEN))
        return await handle(self, request, dialect)

    interception.InterceptionServer.handle_request = handle_request  # type: ignore[method-assign]
