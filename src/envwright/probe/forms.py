"""The forms in which an environment's own readers look for an answer.

A request may show its form in a way that nobody but a reader of prose sees through (`MOVE e4`).
The patterns and prefixes in the code say where the answer belongs; the request says how the
words beside it are spelled. What the request does not mention is not said: a reader that
looks for something that nobody was told refuses the gold, and that is to be found.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from envwright.probe.code import Code, Module
from envwright.probe.source.match import Blank, blanks_of
from envwright_host.gold import FILLER, plain

READERS = frozenset(("compile", "match", "fullmatch", "search", "findall", "finditer", "split"))
CUTS = frozenset(
    (
        *("startswith", "removeprefix", "split", "rsplit", "partition", "rpartition"),
        *("index", "rindex", "find", "rfind"),
    )
)
"""Methods of a text that are told what stands before an answer."""
MOST_BLANKS, MOST_LINES, MOST_KEYS, MOST_FORMS = 12, 4, 6, 8
LONGEST_WORDS = 60


@dataclass(frozen=True, slots=True)
class Readers:
    """What the code looks for in a reply, as far as its source shows."""

    blanks: tuple[Blank, ...] = ()
    keys: tuple[str, ...] = ()
    """Of an object that is read from text."""

    def wordings(self, gold: str, request: str) -> list[str]:
        """The gold in these forms, as far as the request mentions them."""
        told = [blank for each in self.blanks if (blank := as_told(each, request)) is not None]
        said = [fill(blank, gold) for blank in told]
        lines = [blank for blank in told if re.search(r"\w", blank.before)]
        if 1 < len(lines) <= MOST_LINES:
            said += [
                "\n".join(fill(b, gold if b is held else b.sample) for b in lines) for held in lines
            ]
        keys = [key for key in self.keys if re.search(rf"\b{re.escape(key)}\b", request)]
        if 0 < len(keys) <= MOST_KEYS and "json" in request.lower():
            said += [
                json.dumps({key: plain(gold) if key == held else FILLER for key in keys})
                for held in reversed(keys)
            ]
        return list(dict.fromkeys(said))[:MOST_FORMS]


NO_READERS = Readers()


def readers_in(code: Code) -> Readers:
    blanks = [blank for module in code.modules for blank in blanks_in(code, module)]
    keys = [key for module in code.modules for key in keys_in(module)]
    return Readers(tuple(dict.fromkeys(blanks))[:MOST_BLANKS], tuple(dict.fromkeys(keys)))


def blanks_in(code: Code, module: Module) -> Iterator[Blank]:
    for node in module.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name) as reader, args=[given, *_]):
                text = code.text_of(module, given)
            case _:
                continue
        if text is None or len(text) > 10 * LONGEST_WORDS:
            continue
        if name in READERS and module.dotted(reader.value) in ("re", "regex"):
            yield from (
                each for each in blanks_of(text) if each.before.strip() or each.behind.strip()
            )
        elif name in CUTS and re.search(r"\w", text):
            yield Blank(f"{text.rstrip()} ", "1", "")


def keys_in(module: Module) -> Iterator[str]:
    """Keys of what is read as JSON, in the functions that read it."""
    for function in module.functions.values():
        nodes = [*ast.walk(function)]
        if not any(
            isinstance(n, ast.Call) and module.dotted(n.func) == "json.loads" for n in nodes
        ):
            continue
        for node in nodes:
            match node:
                case ast.Subscript(slice=ast.Constant(value=str(key))):
                    yield key
                case ast.Call(
                    func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]
                ):
                    yield key
                case _:
                    pass


def as_told(blank: Blank, request: str) -> Blank | None:
    """With the words beside it as the request spells them; None when it does not."""
    before, behind = spelled(blank.before, request), spelled(blank.behind, request)
    return None if before is None or behind is None else Blank(before, blank.sample, behind)


def spelled(words: str, request: str) -> str | None:
    signs = [re.escape(sign) for sign in words if not sign.isspace()]
    if not signs:
        return words
    if (
        len(signs) > LONGEST_WORDS
        or (found := re.search(r"\s*".join(signs), request, re.I)) is None
    ):
        return None
    head, tail = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
    return f"{head}{found.group()}{tail}"


def fill(blank: Blank, said: str) -> str:
    return f"{blank.before}{said}{blank.behind}".strip()
