"""Questions about entries, and what a reply is worth."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from ship_logs.toolset import FOLDER, Logs


def entries() -> list[tuple[str, str, str]]:
    """Ship, date and miles run of all entries."""
    found = []
    for path in sorted(FOLDER.glob("*.log")):
        for line in path.read_text(encoding="utf-8").splitlines():
            parts = line.split(" | ")
            if len(parts) == 5:
                found.append((path.stem.title(), parts[0], parts[3].split()[0]))
    return found


class EntryData(vf.TaskData):
    ship: str
    date: str
    answer: str


class EntryTask(vf.Task[EntryData]):
    @vf.reward(weight=1.0)
    async def miles(self, trace: vf.Trace) -> float:
        """1.0 if the tag holds the right number of miles."""
        text = trace.last_reply.rpartition("</think>")[2]
        if text.count("<miles>") != 1 or text.count("</miles>") != 1:
            return 0.0
        said = text.partition("<miles>")[2].partition("</miles>")[0][:40].strip(" .\n\t").lower()
        said = said.removesuffix("miles").removesuffix("miles run").strip().removesuffix(".0")
        return float(said == self.data.answer)

    @vf.metric
    async def reads(self, trace: vf.Trace) -> float:
        """How many tool calls there were."""
        return float(sum(len(message.tool_calls or []) for message in trace.assistant_messages))


class ShipLogsConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=48)
    """How many entries are asked for."""
    seed: int = 0
    """Which entries."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    """Where the tools' server runs."""


class ShipLogsTaskset(vf.Taskset[EntryTask, ShipLogsConfig]):
    """Distinct entries, in an order that depends on the seed alone."""

    def load(self) -> Iterator[EntryTask]:
        rng = random.Random(self.config.seed)
        for ship, date, miles in rng.sample(entries(), self.config.num_tasks):
            data = EntryData(
                prompt=f"How many miles had the {ship} run by the log's entry of {date}? Look it up in "
                "her log, and end your reply with the number between <miles> and </miles>.",
                ship=ship,
                date=date,
                answer=miles,
            )
            yield EntryTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: ShipLogsConfig) -> list[vf.Toolset]:
        return [Logs(config.tools)]
