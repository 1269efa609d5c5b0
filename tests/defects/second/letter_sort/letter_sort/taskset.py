"""Words drawn from a list, and their letters in order."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

WORDS = """
orchard blanket cistern dolphin emerald falconry gazette harvest isotope jasmine
kestrel lantern magnet nectar obelisk parchment quarry ravine saddle tundra
umbrella vortex walnut yearling zephyr anchor bramble cactus dungeon estuary
ferment glacier hammock inkwell juniper kiosk ladder marble nutmeg oyster
pelican quiver raisin scaffold thimble utensil velvet whisker yogurt zodiac
almond beacon candle drizzle engine fossil goblet hostel ivory jungle
""".split()


class LetterData(vf.TaskData):
    word: str
    target: str


class LetterTask(vf.Task[LetterData]):
    @vf.reward(weight=1.0)
    async def sorted_right(self, trace: vf.Trace) -> float:
        """1.0 if the reply, without a thinking block, is the sorted letters."""
        reply = trace.last_reply.rsplit("</think>", 1)[-1]
        return float(reply.strip().strip("`.") == self.data.target)


class LetterConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=len(WORDS))
    """How many words."""
    seed: int = 0
    """The seed of the draw."""


class LetterTaskset(vf.Taskset[LetterTask, LetterConfig]):
    def load(self) -> Iterator[LetterTask]:
        rng = random.Random(self.config.seed or None)
        for word in rng.sample(WORDS, self.config.num_tasks):
            data = LetterData(
                prompt=(
                    f'Sort the letters of the word "{word}" alphabetically. Reply with the '
                    "letters alone, in lower case and without spaces."
                ),
                word=word,
                target="".join(sorted(word)),
            )
            yield LetterTask(data, self.config.task)
