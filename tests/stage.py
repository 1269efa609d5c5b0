"""A gateway between a sandbox (an HTTP client on its listener) and a provider on loopback."""

import asyncio
import io
import itertools
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from envwright.gateway import Gateway, Grant
from envwright.model import Model, Protocol
from envwright.trace import ModelCall
from provider import Answer, Provider, Reply, provider
from tongue import CHAT, TONGUES, Tongue, events_in

KEY = "sk-canary/0123456789abcdefghijklmnopqrstuvwxyz"
KEYS = {"CANARY_KEY": KEY}
SECRET_NAME = "secret-model-7b"
"""The provider's own name of the model, which no sandbox may see."""
STRANGE = 'ünïcödé 🦜 «quoted» "x" \\ \t\n\r\n \u2028 \u0000 data: [DONE]\n\ndata: {}\n end'


@dataclass
class Said:
    """What the sandbox got."""

    status: int
    text: str
    tongue: Tongue = CHAT
    broke_off: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]

    @property
    def events(self) -> list[Any]:
        return events_in(self.text)

    @property
    def content(self) -> str:
        return self.tongue.content(self.text)


@dataclass
class Kept:
    """A ledger that remembers."""

    calls: list[tuple[str, int, ModelCall]] = field(default_factory=list)

    def record(self, trial: str, attempt: int, call: ModelCall, /) -> None:
        self.calls.append((trial, attempt, call))


@dataclass
class Door:
    """A gateway and the sandboxes that stand before it, each with a listener of its own."""

    gateway: Gateway
    session: aiohttp.ClientSession
    urls: list[str]
    ledger: Kept
    tongue: Tongue = CHAT

    def question(self, **more: Any) -> dict[str, Any]:
        return self.tongue.question(**more)

    def url(self, sandbox: int = 0) -> str:
        return self.urls[sandbox] + self.tongue.path

    def grant(self, model: Model | None, trial: str = "trial", **options: Any) -> Grant:
        grant = Grant(trial=trial, attempt=1, seat_model=model, **options)
        self.gateway.open(grant)
        return grant

    async def begun(self, model: Model) -> Grant:
        """Of a trial that has had its first answer."""
        grant = self.grant(model)
        assert (await self.ask(grant, seat="first")).status == 200
        return grant

    def headers(self, grant: Grant | None, seat: str | None) -> dict[str, str]:
        token = {"x-envwright-token": grant.token} if grant else {}
        return {**token, **({"x-envwright-seat": seat} if seat else {})}

    async def ask(
        self, grant: Grant | None, *, seat: str | None = "agent", sandbox: int = 0, **body: Any
    ) -> Said:
        data = json.dumps(self.question(**body)).encode()
        return await self.post(data, self.headers(grant, seat), sandbox)

    async def post(self, body: bytes, headers: dict[str, str], sandbox: int = 0) -> Said:
        received = b""
        data = io.BytesIO(body)
        async with self.session.post(self.url(sandbox), data=data, headers=headers) as answer:
            try:
                async for chunk in answer.content.iter_any():
                    received += chunk
            except aiohttp.ClientError:
                return Said(answer.status, received.decode(), self.tongue, broke_off=True)
            return Said(answer.status, received.decode(), self.tongue)


@asynccontextmanager
async def door(
    keys: dict[str, str] | None = None, sandboxes: int = 1, tongue: Tongue = CHAT
) -> AsyncIterator[Door]:
    ledger = Kept()
    gateway = Gateway(keys or {}, ledger)
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(sandboxes)]
    urls = [f"http://127.0.0.1:{s.getsockname()[1]}/v1" for s in listeners]
    detaches = [await gateway.attach(listener) for listener in listeners]
    try:
        async with aiohttp.ClientSession() as session:
            yield Door(gateway, session, urls, ledger, tongue)
    finally:
        for detach in detaches:
            await detach()
        await gateway.close()


Play = Callable[[Door, Provider], Coroutine[Any, Any, None]]


def play(
    answer: Answer,
    scene: Play,
    tongue: Tongue = CHAT,
    *,
    keys: dict[str, str] | None = None,
    sandboxes: int = 1,
):
    """A scene between a sandbox and a provider that answers so."""

    async def main() -> None:
        async with door(keys, sandboxes, tongue) as stage:
            await scene(stage, served)

    with provider(answer) as served:
        asyncio.run(asyncio.wait_for(main(), 60))


def model_at(served: Provider, name: str = "some/model", **more: Any) -> Model:
    fields = {"model": SECRET_NAME, "protocols": tuple(Protocol), **more}
    return Model(name=name, base_url=served.url, **fields)


in_every_protocol = pytest.mark.parametrize("tongue", TONGUES, ids=str)


def always(reply: Reply) -> Answer:
    return lambda body: reply


def in_turn(*replies: Reply) -> Answer:
    """These replies one after the other; the last one for ever."""
    left: Iterator[Reply] = itertools.chain(replies, itertools.repeat(replies[-1]))
    return lambda body: next(left)


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.005)


def rate_limited(**headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply("slow down", status=429, headers=named)


PRICED = {"provider": "openai", "model": "gpt-5"}
