"""One book per task: where does it stand?"""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from stack_register.register import entries
from stack_register.toolset import RegisterTools


def plain(mark: str) -> str:
    """A mark without its case, spaces and what is put around it for emphasis."""
    return "".join(mark.strip(" \t`*\"'.").lower().split())


class BookData(vf.TaskData):
    title: str
    author: str
    answer: str


class BookTask(vf.Task[BookData]):
    @vf.reward(weight=1.0)
    async def shelved(self, trace: vf.Trace) -> float:
        """1.0 if the last line of the final reply is the shelf mark, spaces and case aside."""
        lines = [line for line in trace.last_reply.splitlines() if line.strip(" `")]
        if not lines or len(lines[-1]) > 100:
            return 0.0
        return float(plain(lines[-1]) == plain(self.data.answer))

    @vf.metric
    async def lookups(self, trace: vf.Trace) -> float:
        """How many results the tools returned."""
        return float(len(trace.tool_messages))


class BookConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=60)
    """How many books are asked for, 60 at the most."""
    seed: int = 5
    """Which ones."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class StackRegister(vf.Taskset[BookTask, BookConfig]):
    """Books of the register; the marks follow no rule and have to be looked up."""

    def load(self) -> Iterator[BookTask]:
        for entry in random.Random(self.config.seed).sample(entries(), self.config.num_tasks):
            data = BookData(
                prompt=(
                    f'A reader asks for "{entry.title}" by {entry.author}. Look up where it '
                    "stands in the stacks, and end your reply with a line that holds its shelf "
                    "mark and nothing else."
                ),
                title=entry.title,
                author=entry.author,
                answer=entry.mark,
            )
            yield BookTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: BookConfig) -> list[vf.Toolset]:
        return [RegisterTools(config.tools)]
