"""`Secrets`: values that an environment is given by name and that are kept nowhere. Pure.

`redact` takes them out of text in every shape in which programs write them: as they are,
escaped for JSON, for Python or for a URL, in hex, and in base64 at any place of a longer
text. Does not find one that was cut, reversed or enciphered: environment code that wants to
tell a secret can.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, cast
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""Characters: whatever is shorter may stand in any text by chance."""


class Secrets:
    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self.values = dict(values or {})
        self._names = {
            form: name
            for name, value in self.values.items()
            for form in forms_of(value)
            if len(form) >= SHORTEST
        }
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        self.longest = len(longest_first[0]) if longest_first else 0

    def __bool__(self) -> bool:
        return bool(self.values)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.values)})"

    def redact(self, text: str) -> str:
        if not self.values:
            return text
        return self._pattern.sub(lambda found: f"[secret {self._names[found.group()]}]", text)

    def redact_end(self, text: str, *, cut: bool) -> str:
        """The end of a text; when its beginning was cut, what may be half a secret goes too."""
        if cut and self.values:
            text = text[min(self.longest, len(text)) :]
        return self.redact(text)

    def redact_all(self, value: Any) -> Any:
        """Every text in a foreign value, names included."""
        if not self.values:
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self.redact_all(each) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            pairs = cast("dict[str, Any]", value).items()
            return {self.redact(name): self.redact_all(each) for name, each in pairs}
        return value

    def found_in(self, text: str) -> str | None:
        """The name of one that the text holds."""
        found = self._pattern.search(text) if self.values else None
        return self._names[found.group()] if found else None


NO_SECRETS = Secrets()


def forms_of(value: str) -> Iterator[str]:
    once = json.dumps(value)[1:-1]
    yield from (value, once, json.dumps(value, ensure_ascii=False)[1:-1])
    yield from (json.dumps(once)[1:-1], repr(value)[1:-1])
    yield from (quote(value), quote(value, safe=""), quote_plus(value))
    yield from (escape(value), escape(value, quote=False))
    content = value.encode()
    yield from (content.hex(), content.hex().upper())
    for before in range(3):
        # Of the outermost characters, some bits belong to whatever stands beside it.
        text = base64.b64encode(b"\0" * before + content).decode().rstrip("=")
        whole = (before + len(content)) % 3 == 0
        inner = text[(0, 2, 3)[before] : None if whole else -1]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))
