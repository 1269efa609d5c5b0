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
from dataclasses import dataclass, replace

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
LONGEST_WORDS, LONGEST_REQUEST = 60, 10_000
LOADERS = frozenset(("json.loads", "yaml.safe_load", "yaml.load"))
WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Readers:
    """What the code looks for in a reply, as far as its source shows."""

    blanks: tuple[Blank, ...] = ()
    keys: tuple[str, ...] = ()
    """Of an object that is read from text."""

    def wordings(self, gold: str, request: str) -> list[str]:
        """The gold in these forms, as far as the request mentions them."""
        if len(request) > 2 * LONGEST_REQUEST:
            request = f"{request[:LONGEST_REQUEST]}\n{request[-LONGEST_REQUEST:]}"
        words = {*WORD.findall(request)}
        told = [blank for each in self.blanks if (blank := as_told(each, request)) is not None]
        said = [fill(blank, gold) for blank in told]
        said += [
            f"{blank.all_before}{gold}{blank.all_behind}".strip()
            for blank in self.blanks
            if is_mentioned(blank, words)
        ]
        lines = [blank for blank in told if re.search(r"\w", blank.before)]
        if 1 < len(lines) <= MOST_LINES:
            said += [
                "\n".join(fill(b, gold if b is held else b.sample) for b in lines) for held in lines
            ]
        keys = [key for key in self.keys if key in words]
        if 0 < len(keys) <= MOST_KEYS and "yaml" in request.lower():
            said += [
                "\n".join(f"{key}: {gold if key == held else FILLER}" for key in keys)
                for held in reversed(keys)
            ]
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
            before = f"{text.rstrip()} "
            yield Blank(before, "1", "", before, "")


def keys_in(module: Module) -> Iterator[str]:
    """Keys of an object that is read from text, in the functions that read it."""
    for function in module.functions.values():
        nodes = [*ast.walk(function)]
        if not any(reads_keys(module, node) for node in nodes):
            continue
        for node in nodes:
            match node:
                case ast.Subscript(slice=ast.Constant(value=str(key))):
                    yield key
                case ast.Call(
                    func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]
                ):
                    yield key
                case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=str(key))]):
                    yield key
                case _:
                    pass


def reads_keys(module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Call(
            func=ast.Attribute(attr="partition" | "split"), args=[ast.Constant(value=":"), *_]
        ):
            return True
        case ast.Call(func=reader):
            return module.dotted(reader) in LOADERS
        case _:
            return False


def as_told(blank: Blank, request: str) -> Blank | None:
    """With the words beside it as the request spells them; None when it does not."""
    before, behind = spelled(blank.before, request), spelled(blank.behind, request)
    if before is None or behind is None:
        return None
    return replace(blank, before=before, behind=behind)


def is_mentioned(blank: Blank, told: set[str]) -> bool:
    """Whether all words of its form were told. One alone may be told with other signs."""
    words = {*WORD.findall(f"{blank.all_before} {blank.all_behind}")}
    return len(words) > 1 and words <= told


def spelled(words: str, request: str) -> str | None:
    signs = [re.escape(sign) for sign in words if not sign.isspace()]
    if not signs:
        return words
    if len(signs) > LONGEST_WORDS:
        return None
    # As the code has it, if the request has it so anywhere.
    looked = r"\s*".join(signs)
    found = re.search(looked, request) or re.search(looked, request, re.IGNORECASE)
    if found is None:
        return None
    head, tail = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
    return f"{head}{found.group()}{tail}"


def fill(blank: Blank, said: str) -> str:
    return f"{blank.before}{said}{blank.behind}".strip()
