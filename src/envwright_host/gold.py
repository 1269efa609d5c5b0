"""A task's gold, and the words in which an oracle says it.

The gold is a field of the row. The words follow the task's own request for a format,
then what its rewards accept: an oracle that is right in the wrong format would call
a sound environment broken.
"""

from collections.abc import Awaitable, Callable
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
    lowered = request.lower()
    asked = [before + gold + behind for sign, before, behind in FORMATS if sign in lowered]
    others = [before + gold + behind for sign, before, behind in FORMATS if sign not in lowered]
    return list(dict.fromkeys([*asked, gold, *others]))


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
