"""A TOML file that a person wrote, read into a record; a mistake is said with its line and key."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from envwright.errors import UsageError
from envwright.record import Json, Record, items, mapping

T = TypeVar("T", bound=Record)

MEND = "mend the file"
OTHER_WORDS = {"a valid tuple": "a list", "a valid dictionary": "a table"}
"""Python's words → TOML's."""


@dataclass(frozen=True, slots=True)
class Document:
    path: Path
    text: str
    raw: Json

    def parse(self, record: type[T]) -> T:
        try:
            return record.model_validate(self.raw)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise self.mistake(first["loc"], said(first)) from error

    def mistake(self, keys: Sequence[str | int], words: str, hint: str | None = None) -> UsageError:
        """An error that names the line and the key of what is wrong."""
        names = [str(key) for key in keys]
        line = line_of(self.text, names)
        where = f"{self.path}:{line}" if line else str(self.path)
        return UsageError(f"{where}: {'.'.join(names)}: {words}", hint=hint or MEND)


def read_document(path: Path) -> Document:
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return Document(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        end = f"(at line {text.count(chr(10), 0, -1) + 1}, the last one)"
        said_so = str(error).replace("(at end of document)", end)
        raise UsageError(f"{path}: {said_so}", hint=MEND) from error
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise UsageError(f"{path} cannot be read: {why}", hint=MEND) from error


def said(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "there is no such key"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "missing":
        return "it is missing"
    words = str(error["msg"])
    for python, toml in OTHER_WORDS.items():
        words = words.replace(python, toml)
    # A URL may hold a key: it is not repeated.
    return words if "://" in str(error["input"]) else f"{words}, not {error['input']!r}"


def line_of(text: str, keys: list[str]) -> int | None:
    """The line of the statement that first says the deepest of these keys; None for none.

    tomllib tells no positions, so the file is read again up to each line: a statement
    begins behind the last line up to which the file could be read.
    """
    lines = text.splitlines(keepends=True)
    found, depth, begins = None, 0, 1
    for number in range(1, len(lines) + 1):
        try:
            read = tomllib.loads("".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        if (reached := depth_of(read, keys)) > depth:
            found, depth = begins, reached
        begins = number + 1
    return found


def depth_of(value: Any, keys: list[str]) -> int:
    """How many of the keys, one inside the other, there are."""
    for depth, key in enumerate(keys):
        listed = items(value)
        inside = {str(n): each for n, each in enumerate(listed)} if listed else mapping(value)
        if key not in inside:
            return depth
        value = inside[key]
    return len(keys)
