"""The questions, which are kept beside the pages and not among them."""

import json
from pathlib import Path

import verifiers.v1 as vf

from museum_handbook.toolset import MuseumTools

QUESTIONS = Path(__file__).parent / "questions.json"


class MuseumData(vf.TaskData):
    answer: str


class MuseumTask(vf.Task[MuseumData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*$.!\"' \n").lower().replace(",", "").removesuffix(".0")
        return float(said == self.data.answer)

    @vf.metric
    async def tool_calls(self, trace: vf.Trace) -> float:
        return float(sum(len(m.tool_calls or ()) for m in trace.assistant_messages))


class MuseumConfig(vf.TasksetConfig):
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class MuseumTaskset(vf.Taskset[MuseumTask, MuseumConfig]):
    def load(self):
        for row in json.loads(QUESTIONS.read_text()):
            prompt = (
                f"{row['question']} Look it up in the museum's handbook with your tools, then reply "
                "with that alone: one number, time or word."
            )
            data = MuseumData(prompt=prompt, answer=row["answer"])
            yield MuseumTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: MuseumConfig) -> list[vf.Toolset]:
        return [MuseumTools(config.tools)]
