"""`Front`: the first bytes of a connection decide who serves it, the gateway or the proxy.

A sandbox has one listener for both. A request for a path is a model's; `CONNECT` and a
whole URL ask a proxy. Whoever says nothing for long is let go.
"""

import asyncio
from collections.abc import Callable
from typing import cast

LONGEST_METHOD = 20
SILENT_SECONDS = 60.0
MOST_SILENT = 1024
"""Connections of one sandbox that have not said yet what they want; as many as a worker has slots
may be made at once."""

Serve = Callable[[], asyncio.Protocol]


def asks_proxy(first: bytes) -> bool | None:
    """Whether a request that begins so is a proxy's; None when that is not known yet."""
    method, space, target = first.lstrip(b"\r\n").partition(b" ")
    if not space:
        return False if len(first) > LONGEST_METHOD else None
    if method.upper() == b"CONNECT":
        return True
    return None if not target else target[:1] not in (b"/", b"*")


class Front(asyncio.Protocol):
    def __init__(self, gateway: Serve, proxy: Serve, silent: "set[Front]") -> None:
        self._gateway = gateway
        self._proxy = proxy
        self._silent = silent
        self._first = b""
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if len(self._silent) >= MOST_SILENT:
            self._transport.abort()
            return
        self._silent.add(self)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SILENT_SECONDS, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        self._first += data
        asked = asks_proxy(self._first)
        if asked is None or self._transport is None:
            return
        self.let_go()
        served = self._proxy() if asked else self._gateway()
        self._transport.set_protocol(served)
        served.connection_made(self._transport)
        served.data_received(self._first)

    def connection_lost(self, exc: Exception | None) -> None:
        self.let_go()

    def let_go(self) -> None:
        self._silent.discard(self)
        if self._timer is not None:
            self._timer.cancel()
