"""Blobs: what is too large for a row, compressed, written once, in a folder or an object store."""

import asyncio
from pathlib import Path

import obstore
import zstandard
from obstore.store import LocalStore

from envwright.errors import EnvwrightError


class Blobs:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._store = LocalStore(prefix=str(folder))

    async def put(self, name: str, content: bytes) -> None:
        """Written whole or not at all."""
        packed = zstandard.ZstdCompressor(level=3).compress(content)
        await obstore.put_async(self._store, name, packed, use_multipart=False)

    def get(self, name: str) -> bytes:
        try:
            packed = bytes(obstore.get(self._store, name).bytes())
            return zstandard.ZstdDecompressor().decompress(packed)
        except (FileNotFoundError, zstandard.ZstdError) as error:
            raise EnvwrightError(
                f"blob {name!r} is missing or damaged: {error}",
                hint="restore it, or run the trial anew with `envwright run --fresh`",
            ) from error

    async def get_async(self, name: str) -> bytes:
        return await asyncio.to_thread(self.get, name)
