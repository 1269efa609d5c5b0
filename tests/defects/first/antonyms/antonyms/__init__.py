"""Antonyms of adjectives."""

import verifiers.v1 as vf

PAIRS = """
high low, hot cold, light dark, old young, hard soft, full empty, early late, short long, dry wet,
light heavy, rich poor, narrow wide, thick thin, old new, hard easy, loud quiet, deep shallow,
short tall, rough smooth, clean dirty, right wrong, dry humid, open closed, strong weak, right left,
sweet sour, tight loose, cheap expensive, safe dangerous, sweet bitter, ancient modern, brave cowardly
"""


class AntonymData(vf.TaskData):
    word: str
    answer: str


class AntonymTask(vf.Task[AntonymData]):
    @vf.reward(weight=1.0)
    async def opposite(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*\"'.! \n").lower()
        return 1.0 if said == self.data.answer else 0.0


class AntonymTaskset(vf.Taskset[AntonymTask, vf.TasksetConfig]):
    def load(self):
        for pair in PAIRS.split(","):
            word, opposite = pair.split()
            data = AntonymData(
                prompt=f'What is the opposite of "{word}"? Reply with one word.',
                word=word,
                answer=opposite,
            )
            yield AntonymTask(data, self.config.task)


__all__ = ["AntonymTaskset"]
