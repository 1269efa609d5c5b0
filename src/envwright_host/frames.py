"""Frames on a stream: four bytes of length, then JSON.

Stray prints cannot corrupt it, for it has a socket of its own; code in the same
process can still write garbage there, so a reader checks every frame and gives up
on the first bad one.
"""

import json
import struct
from typing import Any, cast

MAX_FRAME_BYTES = 64 * 1024 * 1024
HEADER = struct.Struct(">I")


class BadFrameError(Exception):
    """What arrived is no frame; the stream cannot be trusted any more."""


def encode(message: dict[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    return pack(body)


def pack(body: bytes) -> bytes:
    if len(body) > MAX_FRAME_BYTES:
        raise BadFrameError(f"a message of {len(body)} bytes is over {MAX_FRAME_BYTES}")
    return HEADER.pack(len(body)) + body


def body_length(header: bytes) -> int:
    (length,) = HEADER.unpack(header)
    if not 2 <= length <= MAX_FRAME_BYTES:
        raise BadFrameError(f"a frame claims {length} bytes")
    return length


def decode(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadFrameError(f"a frame holds no JSON: {error}") from error
    if not isinstance(message, dict):
        raise BadFrameError("a frame holds no object")
    return cast("dict[str, Any]", without_surrogates(message) if b"\\ud" in body else message)


def without_surrogates(value: Any) -> Any:
    """The value with lone halves of characters spelled out; whole ones stay as they are."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [without_surrogates(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {without_surrogates(name): without_surrogates(each) for name, each in pairs}
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")
