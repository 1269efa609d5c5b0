"""A tool as an agent sees it, and the calls that are worth making with its schema."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from envwright.probe.play import Played
from envwright.record import Json, items, mapping
from envwright.trace import Role

TOOL_ERRORS = "tool_errors"
"""Where the host tells what a tool raised, in a dialect that makes a text of it."""
MCP_RAISED = "Error executing tool"
MCP_REFUSED = "validation error"
"""An argument that does not fit the schema is refused before the tool is called."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: Json

    @property
    def properties(self) -> dict[str, Json]:
        return {name: mapping(p) for name, p in mapping(self.parameters.get("properties")).items()}

    @property
    def required(self) -> list[str]:
        return [str(name) for name in items(self.parameters.get("required"))]

    @property
    def texts(self) -> list[str]:
        """Its parameters that take any text."""
        return [n for n, p in self.properties.items() if type_of(p) == "string" and "enum" not in p]

    @property
    def numbers(self) -> list[str]:
        """Its parameters that take any whole number."""
        kinds = self.properties.items()
        return [n for n, p in kinds if type_of(p) == "integer" and "enum" not in p]


@dataclass(frozen=True, slots=True)
class Called:
    """A call, and what the tool answered."""

    tool: str
    arguments: Json
    answer: str
    raised: str | None = None


Again = Callable[[Called], str]
"""A command that makes the same call once more."""


def tools_of(played: Played) -> list[Tool]:
    trace = played.measured
    found: list[Tool] = []
    for raw in trace.tools if trace is not None else ():
        told = mapping(raw.get("function")) or raw
        name, said = str(told.get("name", "")), str(told.get("description") or "")
        found.append(Tool(name, said, mapping(told.get("parameters"))))
    return found


def type_of(schema: Json) -> str:
    """The first type that is not null."""
    for kind in (schema, *map(mapping, items(schema.get("anyOf")))):
        said: Any = kind.get("type")
        for each in items(said) or [said]:
            if isinstance(each, str) and each != "null":
                return each
    return "string"


PLAIN: dict[str, Any] = {
    "string": "example",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "array": [], "object": {}}


def value_for(schema: Json, kinds: dict[str, Any]) -> Any:
    if items(schema.get("enum")):
        return items(schema.get("enum"))[0]
    kind = type_of(schema)
    if kind == "array" and kinds is PLAIN:
        return [value_for(mapping(schema.get("items")), kinds)]
    return kinds.get(kind, PLAIN.get(kind, "example"))


def ordinary_calls(tool: Tool) -> Iterator[Json]:
    """Arguments by the schema: plain ones, empty ones and zero, and those that must be given."""
    made: dict[str, Json] = {}
    for kinds in (PLAIN, EMPTY):
        given = {name: value_for(schema, kinds) for name, schema in tool.properties.items()}
        made.setdefault(json.dumps(given), given)
    least = {n: value_for(tool.properties.get(n, {}), PLAIN) for n in tool.required}
    made.setdefault(json.dumps(least), least)
    yield from made.values()


def call_of(tool: str, arguments: Json) -> Json:
    return {"name": tool, "arguments": json.dumps(arguments)}


def calls_in(played: Played) -> list[Called]:
    """What was called in the measured seat's conversation, with its answers."""
    trace = played.measured
    if trace is None:
        return []
    asked = {
        call.id: (call.name, call.arguments) for step in trace.steps for call in step.tool_calls
    }
    raised = [str(said) for said in items(trace.info.get(TOOL_ERRORS))]
    found: list[Called] = []
    for step in trace.steps:
        if step.role is Role.TOOL and step.tool_call_id in asked:
            name, arguments = asked[step.tool_call_id]
            given = mapping(parsed(arguments))
            found.append(Called(name, given, step.content, problem(name, step.content, raised)))
    return found


def problem(name: str, answer: str, raised: Sequence[str]) -> str | None:
    """What the tool raised, where that shows."""
    if answer.startswith(MCP_RAISED) and MCP_REFUSED not in answer:
        return answer
    own = [said for said in raised if said.startswith(f"{name}: ")]
    return next((said for said in own if said.endswith(answer) and answer), None)


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {}
