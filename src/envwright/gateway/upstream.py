"""Calls to providers: one lane per model, retries, Retry-After, typed failures.

A lane caps the calls in flight and shares what one call learned: when the provider
says to wait, every call of that model waits. Only what may succeed later is tried
again; a refusal is final at once. Keys are added here and taken out of every error.
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp

from envwright.errors import ProviderError
from envwright.model import Model
from envwright.record import mapping

LONGEST_WAIT_SECONDS = 60.0
TRIES = 4
RATE_LIMIT_TRIES = 12
FIRST_BACKOFF_SECONDS = 0.25

CONTEXT_SIGNS = (
    *("context_length_exceeded", "maximum context length", "exceed_context_size"),
    *("context window", "prompt is too long", "exceeds the available context size"),
)


@dataclass(slots=True)
class Lane:
    """One model's calls."""

    slots: asyncio.Semaphore
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
                trust_env=True,
            )
        return self._session

    def lane(self, model: Model) -> Lane:
        if model.name not in self._lanes:
            self._lanes[model.name] = Lane(asyncio.Semaphore(model.limit))
        return self._lanes[model.name]

    def key_of(self, model: Model) -> str | None:
        return self._keys.get(model.api_key_env) if model.api_key_env else None

    def redact(self, text: str) -> str:
        for key in self._keys.values():
            if key:
                text = text.replace(key, "[key]")
        return text

    def headers(self, model: Model) -> dict[str, str]:
        key = self.key_of(model)
        authorization = {"authorization": f"Bearer {key}"} if key else {}
        return {"content-type": "application/json", **authorization}

    @asynccontextmanager
    async def post(
        self, model: Model, path: str, body: bytes
    ) -> AsyncGenerator[tuple[aiohttp.ClientResponse, int]]:
        """An answer with status 200 and how many tries it took; `ProviderError` else."""
        lane = self.lane(model)
        url = model.base_url.rstrip("/") + path
        tries = 0
        async with lane.slots:
            while True:
                await lane.wait()
                tries += 1
                failure: ProviderError
                try:
                    async with self.session.post(
                        url, data=body, headers=self.headers(model), allow_redirects=False
                    ) as answer:
                        if answer.status == 200:
                            yield answer, tries
                            return
                        failure = self.failure_of(model, answer, await read_some(answer))
                except (aiohttp.ClientError, TimeoutError, OSError) as error:
                    if isinstance(error, aiohttp.ClientPayloadError):
                        raise ProviderError(
                            f"{model.name}: the answer broke off: {error}", status=None
                        ) from error
                    failure = ProviderError(
                        self.redact(f"{model.name}: {type(error).__name__}: {error}")
                    )
                failure.tries = tries
                pause = pause_after(failure, tries)
                if pause is None:
                    raise failure
                if failure.status == 429:
                    lane.resume_at = max(lane.resume_at, time.monotonic() + pause)
                else:
                    await asyncio.sleep(pause)

    def failure_of(self, model: Model, answer: aiohttp.ClientResponse, text: str) -> ProviderError:
        said = self.redact(message_in(text))
        hint = None
        if answer.status in (401, 403) and model.api_key_env:
            hint = f"check the key in {model.api_key_env}"
        elif answer.status == 404:
            hint = f"check that the provider serves {model.model!r} at {model.base_url}"
        return ProviderError(
            f"{model.name} answered {answer.status}: {said}",
            status=answer.status,
            retry_after_seconds=retry_after(answer.headers, datetime.now(UTC)),
            code="context_length_exceeded" if is_context_error(answer.status, text) else None,
            hint=hint,
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def pause_after(failure: ProviderError, tries: int) -> float | None:
    """How long to wait before the same call is tried again; None when it is not."""
    if not failure.transient or failure.code is not None:
        return None
    if failure.retry_after_seconds is not None:
        if failure.retry_after_seconds > LONGEST_WAIT_SECONDS or tries >= RATE_LIMIT_TRIES:
            return None
        return failure.retry_after_seconds
    if tries >= (RATE_LIMIT_TRIES if failure.status == 429 else TRIES):
        return None
    return min(FIRST_BACKOFF_SECONDS * 2 ** (tries - 1), 8.0) * random.uniform(0.75, 1.25)


async def read_some(answer: aiohttp.ClientResponse) -> str:
    return (await answer.content.read(64 * 1024)).decode("utf-8", "replace")


def message_in(text: str) -> str:
    """The provider's own words, out of whatever shape its error has."""
    try:
        body = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:500] or "nothing"
    error = mapping(body).get("error", body)
    return " ".join(str(mapping(error).get("message") or error).split())[:500]


def is_context_error(status: int, text: str) -> bool:
    lowered = text.lower()
    return status in (400, 413, 422) and any(sign in lowered for sign in CONTEXT_SIGNS)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, as the provider asks: milliseconds, seconds or a date."""
    milliseconds, seconds = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if seconds is not None:
            return max(0.0, float(seconds))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(seconds) - now).total_seconds()) if seconds else None
    except (TypeError, ValueError):
        return None
