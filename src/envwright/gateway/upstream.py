"""Calls to providers: one lane per model, retries, Retry-After, typed failures.

A provider that says to wait is left alone by every call of that model. A trial that has
nothing to lose yet is told so at once, and gives its place to others; one that has waits
up to a minute. Only what may succeed later is tried again; a refusal is final at once.
Keys are added here and taken out of what comes back.
"""

import asyncio
import io
import json
import random
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from envwright.errors import Fault, ProviderError, may_pass
from envwright.gateway.fault import fault_of, limit_reset, message_in, retry_after
from envwright.gateway.lane import Held, HeldBack, Lane, News, held_back_by
from envwright.gateway.wire import Wire
from envwright.model import Model
from envwright.record import Json

LONGEST_WAIT_SECONDS = 60.0
FRESH_WAIT_SECONDS = 1.0
"""A new attempt costs more than that."""
TRIES = 4
RATE_LIMIT_TRIES = 12
FIRST_BACKOFF_SECONDS = 0.25
LARGE_BODY_BYTES = 2**20
LONGEST_MESSAGE = 500
MOST_WORDS_BYTES = 64 * 1024
WORDS_SECONDS = 10.0


class Asking(Protocol):
    """Who asks."""

    tries: int
    """How often the call was made, also while it is."""

    @property
    def fresh(self) -> bool:
        """Whether its trial has nothing to lose yet, and need not wait."""
        ...


Crowded = Callable[[str, float, Fault], None]
"""Told of a model whose provider asks to wait: its name, for how long from now, and why."""


class Upstream:
    def __init__(self, keys: Mapping[str, str], crowded: Crowded) -> None:
        self._keys = keys
        self._crowded = crowded
        self.news = News()
        self._lanes: dict[str, Lane] = {}
        self._proxies: dict[str, str | None] = {}
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
                request_class=HeldBack,
            )
        return self._session

    def lane(self, name: str) -> Lane:
        return self._lanes.setdefault(name, Lane(name, self.news))

    def lane_of(self, model: Model) -> Lane:
        lane = self.lane(model.name)
        if lane.slots.limit is None:
            lane.slots.resize(model.limit)
        return lane

    def proxy_to(self, url: str) -> str | None:
        if url not in self._proxies:
            self._proxies[url] = proxy_of(url)
        return self._proxies[url]

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
        self, model: Model, wire: Wire, body: bytes, passed: Mapping[str, str], asking: Asking
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """An answer with status 200, its tries counted as they are made; `ProviderError` else."""
        lane = self.lane_of(model)
        while True:
            await lane.wait(FRESH_WAIT_SECONDS if asking.fresh else LONGEST_WAIT_SECONDS)
            answered = False
            async with lane.slots:
                # Cheaper than to find out with a connection in hand.
                if lane.held > 0:
                    continue
                asking.tries += 1
                try:
                    async with self.begin(model, lane, wire, body, passed) as answer:
                        if answer.status == 200:
                            answered = True
                            yield answer
                            return
                        failure = await self.failure_of(model, lane, answer, asking.tries)
                except Held:
                    asking.tries -= 1
                    continue
                except ProviderError as error:
                    # Whoever reads the answer found it to be an error after all.
                    self.learn(lane, error, asking.tries, time.monotonic())
                    raise
                except (aiohttp.ClientError, TimeoutError, OSError) as error:
                    said = self.redact(f"{type(error).__name__}: {error}")
                    if answered:
                        # Half of it may have been passed on: it is not asked for again.
                        raise ProviderError(
                            f"{model.name}: the answer broke off: {said}"
                        ) from error
                    failure = ProviderError(f"{model.name}: {said}")
            failure.tries = asking.tries
            pause = pause_after(failure, asking.tries)
            if pause is None or (failure.crowded and asking.fresh):
                raise failure
            if failure.asks_to_wait:
                await lane.wait(LONGEST_WAIT_SECONDS)
            else:
                await asyncio.sleep(pause)

    def begin(
        self, model: Model, lane: Lane, wire: Wire, body: bytes, passed: Mapping[str, str]
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        return self.session.post(
            model.base_url.rstrip("/") + wire.path,
            data=io.BytesIO(body) if len(body) > LARGE_BODY_BYTES else body,
            headers=self.headers(model, wire, passed),
            allow_redirects=False,
            proxy=self.proxy_to(model.base_url),
            middlewares=(held_back_by(lane),),
        )

    async def failure_of(
        self, model: Model, lane: Lane, answer: aiohttp.ClientResponse, tries: int
    ) -> ProviderError:
        """What an answer other than 200 means, known to the lane as soon as it is to us."""
        status, received, now = answer.status, time.monotonic(), datetime.now(UTC)
        wait = retry_after(answer.headers, now)
        if wait is None and status == 429:
            wait = limit_reset(answer.headers, now)
        if wait is not None and may_pass(status):
            # The words may take their time; the wait is counted from here.
            lane.hold(wait, received)
        text = await read_some(answer)
        fault = fault_of(status, text)
        if fault is None and status == 503 and wait is not None:
            fault = Fault.OVERLOADED
        failure = ProviderError(
            f"{model.name} answered {status}: {self.words(text)}",
            status=status,
            retry_after_seconds=wait,
            code=fault,
            hint=hint_for(model, status, fault),
        )
        self.learn(lane, failure, tries, received)
        return failure

    def learn(self, lane: Lane, failure: ProviderError, tries: int, received: float) -> None:
        """What one call was told holds for all."""
        if not failure.asks_to_wait:
            return
        asked = failure.retry_after_seconds
        lane.hold(backoff(tries) if asked is None else asked, received)
        if failure.crowded and failure.code is not None:
            lane.fault = failure.code
            self._crowded(lane.name, lane.held, failure.code)

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
    if not failure.transient or failure.code == Fault.QUOTA:
        return None
    asked = failure.retry_after_seconds
    if tries >= (RATE_LIMIT_TRIES if failure.asks_to_wait else TRIES):
        return None
    if asked is not None:
        return asked if asked <= LONGEST_WAIT_SECONDS else None
    return backoff(tries)


def backoff(tries: int) -> float:
    return min(FIRST_BACKOFF_SECONDS * 2 ** (tries - 1), 8.0) * random.uniform(0.75, 1.25)


def hint_for(model: Model, status: int, fault: Fault | None) -> str | None:
    if fault is Fault.QUOTA:
        return "check the account's credit"
    if status in (401, 403):
        named = f"check the key in {model.api_key_env}"
        return named if model.api_key_env else "name the variable with its key: --key-env"
    if status == 404:
        return f"check that {model.model!r} is served at {model.base_url} (mostly …/v1)"
    return None


async def read_some(answer: aiohttp.ClientResponse) -> str:
    """The words of an error, or as many as come in time: its status says most of it already."""
    said = b""
    with suppress(aiohttp.ClientError, TimeoutError, OSError):
        async with asyncio.timeout(WORDS_SECONDS):
            while len(said) < MOST_WORDS_BYTES and (more := await answer.content.readany()):
                said += more
    return said[:MOST_WORDS_BYTES].decode("utf-8", "replace")


def proxy_of(url: str) -> str | None:
    """The proxy that the machine's settings ask for; None to go straight."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)
