"""The card is a JSON object with two entries, each of which is a reward of its own."""

import json
import re
import unicodedata
from collections.abc import Iterator

import verifiers.v1 as vf

from opening_cards.openings import OPENINGS

STOCK = {"defence", "defense", "opening", "game", "variation", "the", "attack"}


def key(name: str) -> frozenset[str]:
    """The telling words of an opening's name: no case, accents, or stock words."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z]+", plain.replace("'s", "s").replace("'", ""))
    return frozenset(words) - STOCK


def card(reply: str):
    """The index card in a reply; an empty one if there is none."""
    text = reply.rpartition("</think>")[2].strip()
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").removeprefix("JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


class OpeningData(vf.TaskData):
    moves: str
    opening: str
    eco: str
    answer: str


class OpeningTask(vf.Task[OpeningData]):
    @vf.reward(weight=0.6)
    async def named(self, trace: vf.Trace) -> float:
        """1.0 for the name of the opening."""
        said = card(trace.last_reply).get("opening", "")
        return float(key(said) == key(self.data.opening))

    @vf.reward(weight=0.4)
    async def classified(self, trace: vf.Trace) -> float:
        """1.0 for the ECO code."""
        said = card(trace.last_reply).get("eco", "")
        return float(said.strip().upper() == self.data.eco)


class OpeningTaskset(vf.Taskset[OpeningTask, vf.TasksetConfig]):
    """One task for each opening of the table."""

    def load(self) -> Iterator[OpeningTask]:
        for moves, opening, eco in OPENINGS:
            prompt = (
                f"{moves}\n\nWrite the index card of this opening: a JSON object with the entries "
                '"opening" (its usual English name) and "eco" (its code in the Encyclopaedia of Chess '
                "Openings). Reply with the object alone."
            )
            answer = json.dumps({"opening": opening, "eco": eco})
            data = OpeningData(prompt=prompt, moves=moves, opening=opening, eco=eco, answer=answer)
            yield OpeningTask(data, self.config.task)


__all__ = ["OpeningTaskset"]
