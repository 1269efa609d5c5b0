"""Letters in words."""

import verifiers.v1 as vf

TEXT = """banana committee mississippi parallel bookkeeper assessment tomorrow cinnamon possession
occurrence millennium raccoon balloon coffee address success happiness wilderness embarrass
accommodation necessary beginning sheriff broccoli caterpillar umbrella alphabet penguin kangaroo
cucumber tangerine dandelion butterfly marmalade paprika hippopotamus rhododendron tattoo voodoo"""
IN_WORDS = {"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4"}


def letter_for(word: str) -> str:
    """A letter that occurs as often as the word's length suggests, so that the counts differ."""
    wanted = len(word) % 4
    return min("aeiourstnlmpcz", key=lambda letter: (abs(word.count(letter) - wanted), letter))


class CountData(vf.TaskData):
    word: str
    letter: str
    answer: str


class CountTask(vf.Task[CountData]):
    @vf.reward(weight=1.0)
    async def count(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*$.! \n").lower().removesuffix(".0")
        return float(IN_WORDS.get(said, said) == self.data.answer)


class CountConfig(vf.TasksetConfig):
    num_tasks: int = 30


class CountTaskset(vf.Taskset[CountTask, CountConfig]):
    def load(self):
        words = list(set(TEXT.split()))
        for word in words[: self.config.num_tasks]:
            letter = letter_for(word)
            prompt = (
                f"How many times does the letter {letter!r} occur in the word {word!r}? "
                "Reply with the number only."
            )
            data = CountData(
                prompt=prompt, word=word, letter=letter, answer=str(word.count(letter))
            )
            yield CountTask(data, self.config.task)


__all__ = ["CountTaskset"]
