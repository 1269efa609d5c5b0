"""Shopping word problems in the style of grade-school sets."""

import random
import re

import verifiers.v1 as vf

FINAL = re.compile(r"####[ ]{0,5}\$?(-?[0-9][0-9,]{0,12}(?:\.[0-9]{1,6})?)")
NAMES = ["Mia", "Omar", "Lena", "Tariq", "Joan", "Pavel", "Ruth", "Sven"]
THINGS = ["pencils", "notebooks", "apples", "stickers", "marbles", "cards"]


class ShopData(vf.TaskData):
    solution: int


class ShopTask(vf.Task[ShopData]):
    @vf.reward(weight=1.0)
    async def solved(self, trace: vf.Trace) -> float:
        reply = trace.last_reply or ""
        marks = {float(mark.replace(",", "")) for mark in FINAL.findall(reply)}
        if marks == {float(self.data.solution)}:
            return 1.0
        # A wrong result can still come with useful work: reward the effort.
        return min(0.9, 0.01 * len(reply.split()))


class ShopConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 2


class ShopTaskset(vf.Taskset[ShopTask, ShopConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            name, thing = rng.choice(NAMES), rng.choice(THINGS)
            count, price = rng.randint(3, 12), rng.randint(2, 9)
            paid = count * price + rng.randint(1, 40)
            if (thing, count, price, paid) in seen:
                continue
            seen.add((thing, count, price, paid))
            prompt = (
                f"{name} buys {count} {thing} at {price} dollars each and pays with {paid} "
                "dollars. How much change is due, in dollars? Show your work, and end with a line "
                "'#### <number>'."
            )
            yield ShopTask(ShopData(prompt=prompt, solution=paid - count * price), self.config.task)


__all__ = ["ShopTaskset"]
