"""Calls to providers: one lane per model, retries, Retry-After, typed failures.

A lane caps the calls in flight and shares what one call learned: when the provider
says to wait, every call of that model waits. Only what may succeed later is tried
again; a refusal is final at once. Keys are added here and taken out of what comes back.
"""

import asyncio
import io
import json
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from envwright.errors import Fault, ProviderError
from envwright.gateway.fault import fault_of, limit_reset, message_in, retry_after
from envwright.gateway.wire import Wire
from envwright.model import Model
from envwright.record import Json

LONGEST_WAIT_SECONDS = 60.0
TRIES = 4
RATE_LIMIT_TRIES = 12
FIRST_BACKOFF_SECONDS = 0.25
LARGE_BODY_BYTES = 2**20
LONGEST_MESSAGE = 500


class Counter(Protocol):
    """Whoever wants to know how often a call was tried, also while it is."""

    tries: int


@dataclass(slots=True)
class Lane:
    """One model's calls."""

    slots: asyncio.Semaphore
    proxy: str | None = None
    resume_at: float = 0.0
    waiting: int = field(default=0)

    async def wait(self) -> None:
        while (pause := self.resume_at - time.monotonic()) > 0:
            await asyncio.sleep(pause)


class Upstream:
    def __init__(self, keys: Mapping[str, str]) -> None:
        self._keys = keys
        self._lanes: dict[str, Lane] = {}
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30),
                # No total: the trial's own deadline is the backstop.
                timeout=aiohttp.ClientTimeout(total=None, connect=30, sock_read=600),
                cookie_jar=aiohttp.DummyCookieJar(),
                # Not its trust_env: that reads .netrc too, whose passwords displace the key.
                trust_env=False,
            )
        return self._session

    def lane(self, model: Model) -> Lane:
        if model.name not in self._lanes:
            slots = asyncio.Semaphore(model.limit)
            self._lanes[model.name] = Lane(slots, proxy_of(model.base_url))
        return self._lanes[model.name]

    def key_of(self, model: Model) -> str | None:
        return self._keys.get(model.api_key_env) if model.api_key_env else None

    @property
    def key_names(self) -> frozenset[str]:
        return frozenset(self._keys)

    def redact(self, text: str) -> str:
        for key in self._keys.values():
            if key:
                text = text.replace(key, "[key]")
        return text

    def censor(self, answer: Json) -> Json:
        """The answer without our keys, should a provider say one, however it spelled it."""
        text = json.dumps(answer)
        return answer if (clean := self.redact(text)) == text else json.loads(clean)

    def headers(self, model: Model, wire: Wire, passed: Mapping[str, str]) -> dict[str, str]:
        # Not compressed: a small answer must not become a huge one on the way.
        plain = {"content-type": "application/json", "accept-encoding": "identity"}
        return {**plain, **wire.headers(model, self.key_of(model)), **passed}

    @asynccontextmanager
    async def post(
        self, model: Model, wire: Wire, body: bytes, passed: Mapping[str, str], counter: Counter
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """An answer with status 200, its tries counted as they are made; `ProviderError` else."""
        lane = self.lane(model)
        url = model.base_url.rstrip("/") + wire.path
        async with lane.slots:
            while True:
                await lane.wait()
                tries = counter.tries = counter.tries + 1
                answered = False
                failure: ProviderError
                try:
                    async with self.session.post(
                        url,
                        data=io.BytesIO(body) if len(body) > LARGE_BODY_BYTES else body,
                        headers=self.headers(model, wire, passed),
                        allow_redirects=False,
                        proxy=lane.proxy,
                    ) as answer:
                        if answer.status == 200:
                            answered = True
                            yield answer
                            return
                        failure = self.failure_of(model, answer, await read_some(answer))
                except (aiohttp.ClientError, TimeoutError, OSError) as error:
                    said = self.redact(f"{type(error).__name__}: {error}")
                    if answered:
                        # Half of it may have been passed on: it is not asked for again.
                        raise ProviderError(
                            f"{model.name}: the answer broke off: {said}"
                        ) from error
                    failure = ProviderError(f"{model.name}: {said}")
                failure.tries = tries
                pause = pause_after(failure, tries)
                if pause is None:
                    raise failure
                if failure.crowded:
                    lane.resume_at = max(lane.resume_at, time.monotonic() + pause)
                else:
                    await asyncio.sleep(pause)

    def failure_of(self, model: Model, answer: aiohttp.ClientResponse, text: str) -> ProviderError:
        status, now = answer.status, datetime.now(UTC)
        fault = fault_of(status, text)
        wait = retry_after(answer.headers, now)
        if wait is None and fault is Fault.RATE:
            wait = limit_reset(answer.headers, now)
        hint = None
        if fault is Fault.QUOTA:
            hint = "check the account's credit"
        elif status in (401, 403):
            named = f"check the key in {model.api_key_env}"
            hint = named if model.api_key_env else "name the variable with its key: --key-env"
        elif status == 404:
            hint = f"check that {model.model!r} is served at {model.base_url} (mostly …/v1)"
        return ProviderError(
            f"{model.name} answered {status}: {self.words(text)}",
            status=status,
            retry_after_seconds=wait,
            code=fault,
            hint=hint,
        )

    def words(self, text: str) -> str:
        """A provider's own, fit to be shown."""
        # Cut last: half a key would not be found.
        return self.redact(message_in(text))[:LONGEST_MESSAGE]

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def pause_after(failure: ProviderError, tries: int) -> float | None:
    """How long to wait before the same call is tried again; None when it is not."""
    if not failure.transient:
        return None
    if failure.retry_after_seconds is not None:
        if failure.retry_after_seconds > LONGEST_WAIT_SECONDS or tries >= RATE_LIMIT_TRIES:
            return None
        return failure.retry_after_seconds
    if tries >= (RATE_LIMIT_TRIES if failure.crowded else TRIES):
        return None
    return min(FIRST_BACKOFF_SECONDS * 2 ** (tries - 1), 8.0) * random.uniform(0.75, 1.25)


async def read_some(answer: aiohttp.ClientResponse) -> str:
    return (await answer.content.read(64 * 1024)).decode("utf-8", "replace")


def proxy_of(url: str) -> str | None:
    """The proxy that the machine's settings ask for; None to go straight."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)
