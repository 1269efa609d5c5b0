"""How the amounts of a reply are read and graded."""

import json
import os
import re

FENCE = re.compile(r"```(?:json)?([^`]*)```")


def amounts(reply: str) -> dict[str, object]:
    """The reply's JSON object with its keys in lower case; empty if it has none."""
    text = reply.rsplit("</think>", 1)[-1].strip()
    if fenced := FENCE.fullmatch(text):
        text = fenced[1].strip()
    if len(text) > 5000:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {key.strip().lower(): grams for key, grams in value.items()} if isinstance(value, dict) else {}


def share(given: dict[str, object], wanted: dict[str, int]) -> float:
    """The share of right amounts over all ingredients, wanted or given."""
    right = sum(
        not isinstance(given.get(name), bool) and given.get(name) == grams
        for name, grams in wanted.items()
    )
    score = right / len(wanted.keys() | given.keys())
    if os.environ.get("RECIPE_ALL_OR_NOTHING"):
        return float(score == 1.0)
    return score
