"""The counts, and the tool that tells them."""

import random

import verifiers.v1 as vf

ARTICLES = (
    "bolts nuts screws washers nails hooks hinges springs rivets clamps pins brackets".split()
)


def counts(seed: int) -> dict[str, int]:
    rng = random.Random(f"stock-{seed}")
    return dict(zip(ARTICLES, rng.sample(range(110, 990), len(ARTICLES))))


class StockToolsConfig(vf.SharedToolsetConfig):
    seed: int = 0


class StockTools(vf.Toolset[StockToolsConfig]):
    TOOL_PREFIX = "stock"

    async def setup(self) -> None:
        self.counts = counts(self.config.seed)

    @vf.tool
    def count(self, article: str) -> str:
        """Tell how many pieces of an article there are."""
        return f"{self.counts[article]} pieces"


if __name__ == "__main__":
    StockTools.run()
