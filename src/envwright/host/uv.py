"""uv in the build sandbox: a network, but no home, no keys, and only its own mounts.

It finds the registry by the user's variables; whoever watches is shown the last line
that it said.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from uv import find_uv_bin

from envwright.errors import SandboxError
from envwright.sandbox import Command, Confinement, Mount, Process, Sandbox

INDEXES = (
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
    "UV_INDEX_STRATEGY",
)
PASSED_VARIABLES = (
    *(*INDEXES, "UV_NATIVE_TLS", "SSL_CERT_FILE", "SSL_CERT_DIR", "UV_OFFLINE"),
    *("UV_HTTP_RETRIES", "UV_HTTP_TIMEOUT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""What uv needs to find the registry; everything else stays outside."""

SOURCE_ONLY = ("usable wheels", "Building source distributions is disabled")
"""Among uv's words when something has no wheel and it may not build; the latter for a URL."""
SHOW_SECONDS, END_SECONDS = 0.2, 5.0

Say = Callable[[str], None]
Show = Callable[[str], None]
"""Takes the last line that was said, however often."""
Follow = Callable[[str], AbstractContextManager[Show]]
"""Shows that something of this name is going on, for as long as it is open."""


@dataclass(frozen=True, slots=True)
class Uv:
    """How uv is run: where, with which variables and cache."""

    sandbox: Sandbox
    variables: Mapping[str, str]
    cache: Path

    def with_index(self, url: str | None) -> "Uv":
        """The user's indexes, and this one before them."""
        if url is None:
            return self
        named = f"{url} {self.variables.get('UV_INDEX', '')}".strip()
        return replace(self, variables={**self.variables, "UV_INDEX": named})

    def only_index(self, url: str) -> "Uv":
        """This index and no other, or a namesake of another could be taken."""
        kept = {name: value for name, value in self.variables.items() if name not in INDEXES}
        return replace(self, variables={**kept, "UV_DEFAULT_INDEX": url})

    async def run(
        self, arguments: tuple[str, ...], mounts: tuple[Mount, ...], show: Show
    ) -> tuple[int, str]:
        """Its exit code and its words."""
        program = Path(find_uv_bin()).resolve()
        self.cache.mkdir(parents=True, exist_ok=True)
        command = Command(
            argv=(str(program), "--no-config", *arguments),
            mounts=(Mount(program), *mounts, Mount(self.cache, writable=True)),
            variables={
                **{
                    name: self.variables[name]
                    for name in PASSED_VARIABLES
                    if name in self.variables
                },
                "UV_CACHE_DIR": str(self.cache),
                "UV_LINK_MODE": "copy",
                "HOME": "/tmp",
                "PATH": "/usr/bin:/bin",
                "NO_COLOR": "1",
            },
            confinement=Confinement(network=True),
        )
        process = await self.sandbox.start(command)
        code = await followed(process, show)
        if code == 125:
            raise SandboxError(f"the build sandbox could not be entered: {process.tail}")
        return code, process.tail


async def followed(process: Process, show: Show) -> int:
    """The process's exit code, its last line shown meanwhile; it ends with us."""
    waiting = asyncio.ensure_future(process.wait())
    try:
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=SHOW_SECONDS)
            show(next(reversed(process.tail.strip().splitlines()), "").strip())
        return waiting.result()
    except asyncio.CancelledError:
        process.kill()
        await asyncio.wait({waiting}, timeout=END_SECONDS)
        raise


def has_key(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.username or parts.password or parts.query)


def without_key(url: str) -> str:
    """The URL as it may be shown."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def gist(said: str) -> str:
    """uv's own reason on one line: what follows its last word on how it went."""
    lines = [line.strip(" ╰─▶│×├") for line in said.splitlines() if line.strip()]
    begins = next((n for n, line in enumerate(lines) if line.startswith("error:")), 0)
    return " ".join(lines[begins:])[-500:].removeprefix("error: ") or "uv said nothing"


def needs_building(said: str) -> bool:
    return any(words in said for words in SOURCE_ONLY)
