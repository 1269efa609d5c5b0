"""Cards: a cook's notes, and the step to be written from them."""

from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from recipe_cards.judge import FACTS, MissingFactsJudge

DISHES = [
    ("rye loaf", "a hollow sound when tapped underneath"),
    ("plum cake", "a skewer that comes out clean"),
    ("potato gratin", "a brown crust and bubbling edges"),
    ("shortbread", "edges that are just golden"),
    ("choux buns", "shells that are dry and crisp"),
    ("stuffed peppers", "skins that are blistered"),
    ("custard tart", "a centre that still trembles"),
    ("flatbread", "brown blisters on top"),
]
OVENS = [(160, 50, "lowest"), (180, 35, "middle"), (200, 25, "upper"), (220, 18, "second lowest")]
MAX_CHARS = 1200


class RecipeCardData(vf.TaskData):
    """One card; `answer` is a step that states all four facts."""

    temperature: int
    time: int
    rack: str
    doneness: str
    answer: str


class RecipeCardConfig(vf.TaskConfig):
    judge: vf.JudgeConfig = vf.JudgeConfig()
    """Who checks the step."""


class RecipeCardTask(vf.Task[RecipeCardData, vf.State, RecipeCardConfig]):
    def step(self, trace: vf.Trace) -> str:
        text = trace.last_reply.rpartition("</think>")[2].replace("\0", "")
        return text.encode("utf-8", "replace").decode("utf-8").strip()

    @vf.reward(weight=1.0)
    async def complete(self, trace: vf.Trace) -> float:
        """The share of the four facts that the judge does not miss."""
        step = self.step(trace)
        if not any(char.isalpha() for char in step) or len(step) > MAX_CHARS:
            return 0.0
        facts = (
            f"temperature: {self.data.temperature} degrees Celsius\n"
            f"time: {self.data.time} minutes\n"
            f"rack: {self.data.rack}\n"
            f"doneness: {self.data.doneness}"
        )
        judge = MissingFactsJudge(self.config.judge)
        result = await judge.evaluate(trace=trace, facts=facts, step=step)
        return 1.0 - len(result.parsed or []) / len(FACTS)

    @vf.metric
    async def sentences(self, trace: vf.Trace) -> float:
        """How many sentences the step has, roughly."""
        return float(self.step(trace).count("."))


class RecipeCardsConfig(vf.TasksetConfig):
    num_tasks: int = Field(24, ge=1, le=len(DISHES) * len(OVENS))
    """How many cards."""
    task: RecipeCardConfig = RecipeCardConfig()


class RecipeCardsTaskset(vf.Taskset[RecipeCardTask, RecipeCardsConfig]):
    """Every dish in every oven, dish by dish."""

    def load(self) -> Iterator[RecipeCardTask]:
        cards = [(*dish, *oven) for oven in OVENS for dish in DISHES]
        for dish, doneness, temperature, time, rack in cards[: self.config.num_tasks]:
            data = RecipeCardData(
                prompt=f"Cook's notes: {dish} -- {temperature} C / {time} min / {rack} rack / done = "
                f"{doneness}.\n\nWrite the baking step of the recipe card from these notes, in one "
                "to three full sentences. Reply with the step alone.",
                temperature=temperature,
                time=time,
                rack=rack,
                doneness=doneness,
                answer=f"Bake the {dish} on the {rack} rack at {temperature} degrees Celsius for "
                f"{time} minutes. It is done when you have {doneness}.",
            )
            yield RecipeCardTask(data, self.config.task)
