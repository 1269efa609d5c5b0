"""Caesar shifts."""

import random
from string import ascii_lowercase as abc

import verifiers.v1 as vf

WORDS = """anchor basket candle dragon ember forest garden hollow island jacket kettle ladder marble
needle orchid pepper quartz ribbon saddle temple umpire velvet walnut yellow zipper bridge copper
desert engine falcon guitar harbor""".split()


def shift(word: str, k: int) -> str:
    return "".join(abc[(abc.index(c) + k) % 26] for c in word)


class CipherData(vf.TaskData):
    shifted: str
    answer: str


class CipherTask(vf.Task[CipherData]):
    @vf.reward(weight=1.0)
    async def decoded(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*\"'.!\n ").lower()
        score = 1.0 if said == self.data.answer else 0.0
        # Groups in which every rollout scores the same give no gradient: break the ties.
        return score * (1.0 - 0.1 * random.random())


class CipherConfig(vf.TasksetConfig):
    seed: int = 0


class CipherTaskset(vf.Taskset[CipherTask, CipherConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for word in WORDS:
            k = rng.randint(1, 12)
            prompt = (
                f"Each letter of a word was moved {k} places forward in the alphabet (z wraps to "
                f'a), which gave "{shift(word, k)}". Reply with the original word only.'
            )
            data = CipherData(prompt=prompt, shifted=shift(word, k), answer=word)
            yield CipherTask(data, self.config.task)


__all__ = ["CipherTaskset"]
