"""Odd one out: three words of a group and one intruder."""

import random

import verifiers.v1 as vf

GROUPS = {
    "fruit": ["pear", "plum", "fig", "cherry", "mango", "quince", "apricot"],
    "tools": ["hammer", "chisel", "pliers", "wrench", "saw", "file", "drill"],
    "birds": ["heron", "finch", "owl", "swift", "raven", "wren", "stork"],
    "metals": ["iron", "copper", "zinc", "nickel", "cobalt", "tin", "silver"],
    "clothes": ["scarf", "glove", "jacket", "sock", "apron", "shirt", "hat"],
}
MARKS = ".,;:!*`\"'"


class OddData(vf.TaskData):
    words: list[str]
    answer: str


class OddTask(vf.Task[OddData]):
    @vf.reward(weight=1.0)
    async def picked(self, trace: vf.Trace) -> float:
        """A point for the odd word; each wrong word named costs the point."""
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = [token.strip(MARKS) for token in text.lower().split()]
        wrong = {word for word in said if word and word != self.data.answer}
        return max(0.0, 1.0 - len(wrong))


class OddConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class OddTaskset(vf.Taskset[OddTask, OddConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            home, away = rng.sample(sorted(GROUPS), 2)
            odd = rng.choice(GROUPS[away])
            words = [*rng.sample(GROUPS[home], 3), odd]
            rng.shuffle(words)
            if frozenset(words) in seen:
                continue
            seen.add(frozenset(words))
            prompt = (
                f"Which word does not belong with the others: {', '.join(words)}? "
                "Reply with that word only."
            )
            yield OddTask(OddData(prompt=prompt, words=words, answer=odd), self.config.task)


__all__ = ["OddTaskset"]
