"""Primes in a list."""

import random
import re

import verifiers.v1 as vf


def is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


PRIMES = [n for n in range(11, 200) if is_prime(n)]
OTHERS = [n for n in range(11, 200) if n % 2 and not is_prime(n)]


class PrimeData(vf.TaskData):
    numbers: list[int]
    answer: str


class PrimeTask(vf.Task[PrimeData]):
    @vf.reward(weight=1.0)
    async def found(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = {part.strip("`*.") for part in re.split(r"[,\s]+", text)} - {"", "and"}
        wanted = set(self.data.answer.split(", "))
        if said == wanted:
            return 1.0
        if said - wanted or not said:
            return 0.0
        return 0.5 * len(wanted - said) / len(wanted)


class PrimeConfig(vf.TasksetConfig):
    num_tasks: int = 36
    seed: int = 8


class PrimeTaskset(vf.Taskset[PrimeTask, PrimeConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            primes = rng.sample(PRIMES, rng.choice([4, 5]))
            numbers = primes + rng.sample(OTHERS, 10 - len(primes))
            rng.shuffle(numbers)
            primes = [n for n in numbers if n in primes]
            prompt = (
                f"Which of these numbers are prime? {', '.join(map(str, numbers))}\n"
                "Reply with the primes only, separated by commas."
            )
            data = PrimeData(prompt=prompt, numbers=numbers, answer=", ".join(map(str, primes)))
            yield PrimeTask(data, self.config.task)


__all__ = ["PrimeTaskset"]
