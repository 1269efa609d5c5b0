"""A revision's tasks as they were read: lazily, each under a key of its content.

Whatever a dialect calls a task, `row_of` spells its content; the key is a hash of it
without the index, so that duplicates show and a task that changed is noticed.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from envwright_host.canonical import sha256_of
from envwright_host.server import Refused

MOST_TASKS = 1_000_000

T = TypeVar("T")
Row = dict[str, Any]


class Tasks(Generic[T]):
    """`index_field` is where the dialect itself keeps the index in a row."""

    def __init__(self, rest: Iterator[T], row_of: Callable[[T], Row], index_field: str) -> None:
        self.rest = rest
        self.row_of = row_of
        self.index_field = index_field
        self.read: list[T] = []
        self.keys: dict[int, str] = {}

    def at(self, index: int, key: str | None = None) -> T:
        """The task at this place, which must have this key if one is given."""
        self.read_to(index + 1)
        if index >= len(self.read):
            raise Refused("usage", f"no task {index}: there are {len(self.read)}")
        if key is not None and self.key_of(index) != key:
            raise Refused(
                "environment",
                f"task {index} is another one than when the trial was planned "
                f"(key {self.key_of(index)[:12]}, planned {key[:12]}): load() is not deterministic",
            )
        return self.read[index]

    def key_of(self, index: int) -> str:
        if index not in self.keys:
            row = self.row_of(self.read[index])
            row.pop(self.index_field, None)
            try:
                self.keys[index] = sha256_of(row)
            except ValueError as error:
                raise Refused(
                    "environment", f"task {index}: its row holds NaN or infinity"
                ) from error
        return self.keys[index]

    def read_to(self, count: int | None) -> None:
        """Read tasks until `count` are there; all of them when None."""
        while count is None or len(self.read) < count:
            task = next(self.rest, None)
            if task is None:
                return
            self.read.append(task)
            if len(self.read) > MOST_TASKS:
                raise Refused(
                    "environment", f"it yields over {MOST_TASKS} tasks: set INFINITE = True"
                )

    def rows(self, start: int, stop: int, prompt_of: Callable[[T], str]) -> list[Row]:
        """Rows `start` to `stop`; fewer when there are fewer."""
        self.read_to(stop)
        return [
            {
                "index": index,
                "key": self.key_of(index),
                "prompt": prompt_of(self.read[index]),
                "row": self.row_of(self.read[index]),
            }
            for index in range(start, min(stop, len(self.read)))
        ]
