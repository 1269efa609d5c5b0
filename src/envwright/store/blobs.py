"""Blobs: what is too large for a row, compressed, written once, in a folder or an object store."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import obstore
import zstandard
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, S3Store

from envwright.errors import EnvwrightError, UsageError
from envwright.store.address import BLOB_VARIABLE

S3_VARIABLES = {
    "aws_access_key_id": ("AWS_ACCESS_KEY_ID",),
    "aws_secret_access_key": ("AWS_SECRET_ACCESS_KEY",),
    "aws_session_token": ("AWS_SESSION_TOKEN",),
    "aws_region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "aws_endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
}
"""obstore's option ← the usual variables; the first that is set."""
PROBE = "envwright-blobs"
PART_BYTES = 8 * 2**20
"""Of a large blob in memory at a time."""
PARTS_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Objects:
    """Where blobs are, and how that is shown."""

    store: ObjectStore
    shown: str
    hint: str
    """What to look at when it fails."""
    secrets: tuple[str, ...] = ()


def open_objects(folder: Path, url: str | None, variables: Mapping[str, str]) -> Objects:
    """The store that `url` names; without one, `folder`. Nothing is asked of a server yet."""
    if url is None:
        return open_folder(folder)
    hint = f"set {BLOB_VARIABLE}=s3://BUCKET/PREFIX or file:///FOLDER"
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"{BLOB_VARIABLE} is no URL", hint=hint) from error
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path:
        return open_folder(Path(unquote(parts.path)))
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"{BLOB_VARIABLE} holds a user or a password",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead",
        )
    if parts.scheme != "s3" or not parts.netloc:
        raise UsageError(f"{BLOB_VARIABLE} is neither s3:// nor file://", hint=hint)
    return open_s3(parts.netloc, parts.path.strip("/"), variables)


def open_folder(folder: Path) -> Objects:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}",
            hint=f"set ENVWRIGHT_HOME or {BLOB_VARIABLE} to a folder of yours",
        ) from error
    return Objects(
        LocalStore(prefix=str(folder)),
        str(folder),
        "check that the disk has room and can be written",
    )


def open_s3(bucket: str, prefix: str, variables: Mapping[str, str]) -> Objects:
    options = {
        option: value
        for option, names in S3_VARIABLES.items()
        if (value := next((variables[name] for name in names if variables.get(name)), None))
    }
    endpoint = options.get("aws_endpoint", "")
    where = f"s3://{bucket}/{prefix}" + (f" at {shown_endpoint(endpoint)}" if endpoint else "")
    try:
        store = S3Store(
            bucket,
            prefix=prefix or None,
            config=cast("Any", {"aws_region": "us-east-1", **options}),
            client_options={
                "timeout": "60s",
                "connect_timeout": "10s",
                "allow_http": endpoint.startswith("http://"),
            },
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=60)},
        )
    except (BaseError, ValueError) as error:
        raise UsageError(
            f"{where} cannot be used", hint=f"check {BLOB_VARIABLE} and the AWS_ variables"
        ) from error
    secret = ("aws_secret_access_key", "aws_session_token", "aws_access_key_id")
    found = tuple(options[name] for name in secret if name in options)
    return Objects(store, where, f"check {BLOB_VARIABLE} and the AWS_ variables", secrets=found)


def shown_endpoint(endpoint: str) -> str:
    return endpoint.rpartition("@")[2] if "@" in endpoint else endpoint


class Blobs:
    def __init__(self, objects: Objects) -> None:
        self._store = objects.store
        self._objects = objects

    @property
    def shown(self) -> str:
        return self._objects.shown

    async def check(self) -> None:
        """Whether it takes a blob and gives it back; before work that relies on it."""
        await self.put(PROBE, b"envwright")
        if await self.get_async(PROBE) != b"envwright":
            raise UsageError(
                f"blobs in {self.shown} do not come back as they were", hint="check the server"
            )

    async def put(self, name: str, content: bytes) -> None:
        """Written whole or not at all."""
        packed = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(content)
        try:
            await obstore.put_async(self._store, name, packed, use_multipart=False)
        except (BaseError, OSError) as error:
            raise self.refusal(error) from error

    def get(self, name: str) -> bytes:
        try:
            packed = bytes(obstore.get(self._store, name).bytes())
            return zstandard.ZstdDecompressor().decompress(packed)
        except (FileNotFoundError, zstandard.ZstdError) as error:
            raise EnvwrightError(
                f"blob {name!r} is missing or damaged: {self.redact(error)}",
                hint="restore it, or run the trial anew with `envwright run --fresh`",
            ) from error
        except (BaseError, OSError) as error:
            raise self.refusal(error) from error

    async def get_async(self, name: str) -> bytes:
        return await asyncio.to_thread(self.get, name)

    async def size(self, name: str) -> int | None:
        """Its bytes as they are kept; None when there is no such blob."""
        try:
            return (await obstore.head_async(self._store, name))["size"]
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise self.refusal(error) from error

    async def put_file(self, name: str, file: Path) -> None:
        """A file as it is, however large; written whole or not at all."""
        try:
            await obstore.put_async(
                self._store, name, file, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE
            )
        except (BaseError, OSError) as error:
            raise self.refusal(error) from error

    def get_file(self, name: str, size: int, file: Path) -> None:
        """A blob of this size as it is, into a file.

        By ranges: one request for all of a large blob would outlast a client's patience.
        """
        try:
            with file.open("wb") as out:
                for start in range(0, size, PART_BYTES):
                    end = min(start + PART_BYTES, size)
                    out.write(obstore.get_range(self._store, name, start=start, end=end))
        except (BaseError, OSError) as error:
            raise self.refusal(error) from error

    def refusal(self, error: Exception) -> UsageError:
        return UsageError(
            f"blobs in {self.shown} cannot be used: {self.redact(error)}",
            hint=self._objects.hint,
        )

    def redact(self, error: Exception) -> str:
        """Its first line, short, without keys."""
        said = str(error).strip().partition("\n")[0][:300]
        for secret in self._objects.secrets:
            said = said.replace(secret, "***")
        return said
