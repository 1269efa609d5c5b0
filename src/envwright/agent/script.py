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

SHAPE = 'write ["reply", …] or {"replies": […], "tasks": {"INDEX or KEY": […]}}'


class Script(Record):
    replies: tuple[Json, ...] = ()
    tasks: dict[str, tuple[Json, ...]] = {}

    @property
    def content(self) -> str:
        return digest(self)

    def replies_for(self, index: int, key: str) -> list[Json]:
        if (own := self.tasks.get(str(index))) is None:
            named = (name for name in self.tasks if len(name) >= 8 and key.startswith(name))
            own = next((self.tasks[name] for name in named), self.replies)
        return list(own)


def read_script(path: Path) -> Script:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"script {str(path)!r} cannot be read: {error.strerror}", hint="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise unplayable(path, "it is no UTF-8 text") from error
    try:
        if path.suffix == ".jsonl":
            read: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unplayable(path, f"it is no JSON: {error}") from error
    if isinstance(read, list):
        return Script(replies=read_replies(path, cast("list[Any]", read)))
    if isinstance(read, dict):
        body = cast("Json", read)
        if unknown := sorted(set(body) - {"replies", "tasks"}):
            raise unplayable(path, f"unknown key {unknown[0]!r}")
        tasks: Any = body.get("tasks") or {}
        if not isinstance(tasks, dict):
            raise unplayable(path, "tasks must be an object of lists")
        return Script(
            replies=read_replies(path, body.get("replies") or []),
            tasks={name: read_replies(path, own) for name, own in cast("Json", tasks).items()},
        )
    raise unplayable(path, "it holds no list of replies")


def unplayable(path: Path, problem: str) -> UsageError:
    return UsageError(f"script {str(path)!r}: {problem}", hint=SHAPE)


def read_replies(path: Path, raw: Any) -> tuple[Json, ...]:
    if not isinstance(raw, list):
        raise unplayable(path, "replies must be a list")
    return tuple(read_reply(path, n, each) for n, each in enumerate(cast("list[Any]", raw)))


def read_reply(path: Path, n: int, raw: Any) -> Json:
    if isinstance(raw, str):
        return {"content": raw, "tool_calls": []}
    if not isinstance(raw, dict):
        raise unplayable(path, f"reply {n} is neither text nor an object")
    reply = cast("Json", raw)
    if unknown := sorted(set(reply) - {"content", "tool_calls"}):
        raise unplayable(path, f"reply {n} has an unknown key {unknown[0]!r}")
    content: Any = reply.get("content")
    given_calls: Any = reply.get("tool_calls") or []
    if not isinstance(content, str | None):
        raise unplayable(path, f"reply {n}: its content is no text")
    if not isinstance(given_calls, list):
        raise unplayable(path, f"reply {n}: its tool_calls are no list")
    calls: list[Json] = []
    for call in map(mapping, items(given_calls)):
        if not isinstance(call.get("name"), str):
            raise unplayable(path, f"reply {n} has a tool call without a name")
        given: Any = call.get("arguments", {})
        arguments = given if isinstance(given, str) else json.dumps(given)
        calls.append({"name": call["name"], "arguments": arguments})
    return {"content": content, "tool_calls": calls}
