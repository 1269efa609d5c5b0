"""Irregular plurals."""

import urllib.request

import verifiers.v1 as vf

SOURCE = "https://wordlists.example.org/irregular-plurals.txt"
BUILT_IN = """goose geese
mouse mice
foot feet
tooth teeth
child children
ox oxen
man men
woman women
louse lice
crisis crises
thesis theses
cactus cacti
nucleus nuclei
leaf leaves
knife knives
wolf wolves
half halves
shelf shelves
loaf loaves
thief thieves
calf calves
potato potatoes
bacterium bacteria
phenomenon phenomena"""


def word_list() -> list[list[str]]:
    """The current list if it can be had, else the one we ship."""
    try:
        with urllib.request.urlopen(SOURCE, timeout=2) as answer:
            text = answer.read().decode()
    except OSError:
        text = BUILT_IN
    return [line.split() for line in text.splitlines() if len(line.split()) == 2]


class PluralData(vf.TaskData):
    noun: str
    answer: str


class PluralTask(vf.Task[PluralData]):
    @vf.reward(weight=1.0)
    async def plural(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        return float(text.strip().strip("`*.!\"' \n").lower() == self.data.answer)


class PluralTaskset(vf.Taskset[PluralTask, vf.TasksetConfig]):
    def load(self):
        for noun, plural in word_list():
            prompt = f'What is the plural of "{noun}"? Reply with one word.'
            yield PluralTask(PluralData(prompt=prompt, noun=noun, answer=plural), self.config.task)


__all__ = ["PluralTaskset"]
