"""Sums over two articles."""

import random
from itertools import combinations

import verifiers.v1 as vf

from stock_room.toolset import ARTICLES, StockTools, StockToolsConfig, counts


class StockData(vf.TaskData):
    articles: list[str]
    answer: str


class StockTask(vf.Task[StockData]):
    @vf.reward(weight=1.0)
    async def total(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2].strip().strip("`*$. \n").lower()
        said = text.replace(",", "").removesuffix("pieces").strip().removesuffix(".0")
        return float(said == self.data.answer)

    @vf.metric
    async def tool_calls(self, trace: vf.Trace) -> float:
        return float(sum(len(m.tool_calls or ()) for m in trace.assistant_messages))


class StockConfig(vf.TasksetConfig):
    num_tasks: int = 30
    seed: int = 0
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class StockTaskset(vf.Taskset[StockTask, StockConfig]):
    def load(self):
        stock = counts(self.config.seed)
        pairs = random.Random(self.config.seed).sample(
            list(combinations(ARTICLES, 2)), self.config.num_tasks
        )
        for a, b in pairs:
            prompt = (
                f"How many {a} and {b} are in the stock room together? Look both up with your "
                "tool, and reply with the sum only."
            )
            data = StockData(prompt=prompt, articles=[a, b], answer=str(stock[a] + stock[b]))
            yield StockTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: StockConfig) -> list[vf.Toolset]:
        return [StockTools(StockToolsConfig(**config.tools.model_dump(), seed=config.seed))]
