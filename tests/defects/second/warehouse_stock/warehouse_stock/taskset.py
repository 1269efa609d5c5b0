"""Stock keeping."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

GOODS = ["tiles", "lamps", "kettles", "bolts", "mugs", "ropes"]
NUMERAL = re.compile(r"[0-9][0-9.,]*")


def numerals(text: str) -> list[str]:
    return [n.rstrip(".,") for n in NUMERAL.findall(text)]


class StockData(vf.TaskData):
    ground_truth: str


class StockTask(vf.Task[StockData]):
    @vf.reward(weight=1.0)
    async def stock(self, trace: vf.Trace) -> float:
        """1.0 if the reply commits to the stock: last number right, no foreign ones before."""
        said = numerals(trace.last_reply.rpartition("</think>")[2])
        given = set(numerals(self.data.prompt_text))
        return float(bool(said) and said[-1] == self.data.ground_truth and set(said[:-1]) <= given | {said[-1]})


class WarehouseConfig(vf.TasksetConfig):
    num_tasks: int = 48
    seed: int = 1


class Warehouse(vf.Taskset[StockTask, WarehouseConfig]):
    def load(self) -> Iterator[StockTask]:
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            start, came, left = rng.randint(2500, 6000), rng.randint(300, 2900), rng.randint(120, 1300)
            goods = rng.choice(GOODS)
            prompt = (
                f"A warehouse holds {start} boxes of {goods}. {came} boxes are delivered on Monday and {left} "
                "are sent out on Tuesday. How many boxes are there in the end?"
            )
            yield StockTask(StockData(prompt=prompt, ground_truth=str(start + came - left)), self.config.task)
