"""`scripted:FILE`: replies, also tool calls, from a file. The shipped fake agent.

JSON: a list of replies for every task, or `{"replies": […], "tasks": {"INDEX or KEY": […]}}`
with lists of their own for some. JSONL: one reply per line. A reply is a string, or
`{"content": …, "tool_calls": [{"name": …, "arguments": {…}}]}`.
"""

import json
from pathlib import Path
from typing import Any, cast

from envwright.errors import UsageError
from envwright.record import Json, Record, digest, items, mapping


class Script(Record):
    replies: tuple[Json, ...] = ()
    tasks: dict[str, tuple[Json, ...]] = {}

    @property
    def content(self) -> str:
        return digest(self)

    def replies_for(self, index: int, key: str) -> list[Json]:
        own = self.tasks.get(str(index)) or next(
            (
                replies
                for name, replies in self.tasks.items()
                if len(name) >= 8 and key.startswith(name)
            ),
            None,
        )
        return list(self.replies if own is None else own)


def read_script(path: Path) -> Script:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"script {str(path)!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"script {str(path)!r} is no UTF-8 text") from error
    try:
        if path.suffix == ".jsonl":
            read: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            read = json.loads(text)
    except ValueError as error:
        raise UsageError(f"script {str(path)!r} is no JSON: {error}") from error
    if isinstance(read, list):
        return Script(replies=read_replies(path, read))
    if isinstance(read, dict):
        body = cast("Json", read)
        if unknown := sorted(set(body) - {"replies", "tasks"}):
            raise UsageError(
                f"script {str(path)!r}: unknown key {unknown[0]!r}", hint="replies, tasks"
            )
        tasks = cast("Json", body.get("tasks") or {})
        return Script(
            replies=read_replies(path, body.get("replies") or []),
            tasks={str(name): read_replies(path, own) for name, own in tasks.items()},
        )
    raise UsageError(f"script {str(path)!r} holds no list of replies")


def read_replies(path: Path, raw: Any) -> tuple[Json, ...]:
    if not isinstance(raw, list):
        raise UsageError(f"script {str(path)!r}: replies must be a list")
    return tuple(read_reply(path, n, each) for n, each in enumerate(cast("list[Any]", raw)))


def read_reply(path: Path, n: int, raw: Any) -> Json:
    if isinstance(raw, str):
        return {"content": raw, "tool_calls": []}
    if not isinstance(raw, dict):
        raise UsageError(f"script {str(path)!r}: reply {n} is neither text nor an object")
    reply = cast("Json", raw)
    if unknown := sorted(set(reply) - {"content", "tool_calls"}):
        raise UsageError(f"script {str(path)!r}: reply {n} has an unknown key {unknown[0]!r}")
    calls: list[Json] = []
    for call in map(mapping, items(reply.get("tool_calls"))):
        if not isinstance(call.get("name"), str):
            raise UsageError(f"script {str(path)!r}: reply {n} has a tool call without a name")
        given: Any = call.get("arguments", {})
        arguments = given if isinstance(given, str) else json.dumps(given)
        calls.append({"name": call["name"], "arguments": arguments})
    return {"content": reply.get("content"), "tool_calls": calls}
