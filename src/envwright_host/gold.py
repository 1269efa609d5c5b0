"""A task's gold, and the words in which an oracle says it.

The gold is a field of the row. The words follow the task's own request for a format,
then what its rewards accept: an oracle that is right in the wrong format would call
a sound environment broken.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast

FIELDS = ("answer", "expected", "solution", "target", "gold", "ground_truth", "label")

FORMATS: tuple[tuple[str, str, str], ...] = (
    # what the request mentions, and what stands before and behind the gold
    ("\\boxed", "\\boxed{", "}"),
    ("<answer>", "<answer>", "</answer>"),
    ("####", "#### ", ""),
    ("```", "```\n", "\n```"),
    ("answer:", "Answer: ", ""),
)

HOLDERS = ("answer", "final_answer", "result", "solution", "output", "label", "choice", "verdict")
"""What a request calls the place where the gold belongs."""
TAG = re.compile(r"<([A-Za-z][\w-]{0,30})>")
KEY = re.compile(r"[\"']([A-Za-z_][\w -]{0,30})[\"']\s*:")
LABEL = re.compile(
    rf"\b((?:(?:the|your|final) ){{0,2}}(?:{'|'.join(HOLDERS)})(?: is)?\s*:)", re.IGNORECASE
)
BLANK = r"(?:<[^<>\n]{1,40}>|\[[^\[\]\n]{1,40}\]|\{[^{}\n]{0,40}\}|_{2,}|\.{3}|…)"
SHOWN = re.compile(
    r"(?:^|\n|(?<!\w)[`'\"“‘(]|\b(?:form|line|as|with|write|format):? )[ \t]{0,4}"
    r"([A-Za-z][\w ]{0,30}?[ \t]{0,4}(?::|=|->|=>))[ \t]{0,4}"
    rf"(?:{BLANK}|[^\n`'\"”’]{{1,40}}[`'\"”’])"
)
"""A label before a blank that is to be filled in, or in a quoted example."""
NAMED = re.compile(
    r"(?:^|\n|[`'\"“‘])[ \t]{0,4}([A-Za-z][\w ]{0,30}?)[ \t]{1,4}"
    r"(?:<[^<>/\n]{1,40}>|\[[^\[\]\n]{1,40}\]|\{[^{}\n]{1,40}\}|_{2,})[ \t]{0,4}(?=[\n`'\"”’.]|$)"
)
"""Words before a blank, with nothing else on their line."""
EXAMPLE = re.compile(
    r"\b(?:form|format|line|as|like|with)[ \t]{0,4}:?[ \t]{0,4}\n{1,2}[ \t]{0,4}"
    r"([A-Za-z][\w ]{0,30}?(?::|=|->|=>))[ \t]{1,4}[^\s:]{1,20}[ \t]{0,4}(?=\n|$)"
)
"""A label and one word on a line that the words before it speak of."""
MOST_PLACES = 5
"""More tags or keys than this are the question's own material, not the form of a reply."""
FILLER = "I worked it out step by step."


class NoGoldError(Exception):
    """The row has no field that could be the gold."""


def gold_of(row: dict[str, Any], field: str | None) -> str:
    names = (field,) if field else FIELDS
    for name in names:
        value = dig(row, name)
        if value is not None and value != "":
            return value if isinstance(value, str) else spell(value)
    looked = ", ".join(names)
    have = ", ".join(sorted(row)) or "nothing"
    raise NoGoldError(f"no gold: looked for {looked}; the row has {have} (name one: --gold-field)")


def dig(row: Any, path: str) -> Any:
    """A field by name; dots reach into nested rows."""
    for part in path.split("."):
        if not isinstance(row, dict) or part not in row:
            return None
        row = cast("dict[str, Any]", row)[part]
    return row


def spell(value: Any) -> str:
    """A list of acceptable answers is answered with its first."""
    if isinstance(value, list) and value:
        return spell(cast("list[Any]", value)[0])
    return str(cast("object", value))


def wordings(gold: str, request: str) -> list[str]:
    """Ways to say the gold: as the request asks for it first, then bare, then the others."""
    spelled = spelled_out(gold, request)
    lowered = request.lower()
    asked = [before + gold + behind for sign, before, behind in FORMATS if sign in lowered]
    others = [before + gold + behind for sign, before, behind in FORMATS if sign not in lowered]
    # An object or a list is its own form: what stands before it in a request is prose.
    first = [gold] if gold.lstrip()[:1] in ("{", "[") else []
    return list(dict.fromkeys([*asked, *first, *spelled, gold, *others]))


def spelled_out(gold: str, request: str) -> Iterator[str]:
    """The gold in the forms that a request writes down: its tags, its keys, its labels."""
    tags = found(TAG, request)
    if "tag" not in request.lower():
        tags = [tag for tag in tags if f"</{tag}>" in request]
    for line in ("", "\n") if 0 < len(tags) <= MOST_PLACES else ():
        places = filled(tags, gold)
        yield "\n".join(f"<{tag}>{line}{said}{line}</{tag}>" for tag, said in places.items())
    keys = found(KEY, request)
    if "json" in request.lower() and len(keys) <= MOST_PLACES:
        places = filled(keys or ["answer"], gold)
        yield json.dumps(places)
        yield json.dumps({key: plain(said) for key, said in places.items()})
    labels = [*found(LABEL, request)[:3], *found(SHOWN, request)[-3:]]
    labels += [*found(NAMED, request)[-2:], *found(EXAMPLE, request)[-2:]]
    for label in dict.fromkeys(labels):
        yield f"{label} {gold}"


def found(pattern: re.Pattern[str], request: str) -> list[str]:
    return list(dict.fromkeys(match.group(1) for match in pattern.finditer(request)))


def filled(names: list[str], gold: str) -> dict[str, str]:
    """The gold where it belongs by name, else in the last place; something in the others."""
    holder = next((name for name in names if name.lower() in HOLDERS), names[-1])
    return {name: gold if name == holder else FILLER for name in names}


def plain(text: str) -> Any:
    """A number, list or truth value as JSON has them; else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


async def best_of(said: list[str], reward_of: Callable[[str], Awaitable[float]]) -> str:
    """The first wording that the task's own rewards score highest."""
    best, best_reward = said[0], float("-inf")
    for wording in said:
        try:
            reward = await reward_of(wording)
        except (Exception, SystemExit):  # noqa: BLE001 - the real run will report it
            continue
        if reward > best_reward:
            best, best_reward = wording, reward
    return best
