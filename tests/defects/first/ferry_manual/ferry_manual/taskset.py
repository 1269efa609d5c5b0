"""The questions, which are kept beside the pages and not among them."""

import json
from pathlib import Path

import verifiers.v1 as vf

from ferry_manual.toolset import FerryTools

QUESTIONS = Path(__file__).parent / "questions.json"


class FerryData(vf.TaskData):
    answer: str


class FerryTask(vf.Task[FerryData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*$.!\"' \n").lower().replace(",", "").removesuffix(".0")
        return float(said == self.data.answer)

    @vf.metric
    async def tool_calls(self, trace: vf.Trace) -> float:
        return float(sum(len(m.tool_calls or ()) for m in trace.assistant_messages))


class FerryConfig(vf.TasksetConfig):
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class FerryTaskset(vf.Taskset[FerryTask, FerryConfig]):
    def load(self):
        for row in json.loads(QUESTIONS.read_text()):
            prompt = (
                f"{row['question']} Look it up in the ferry's manual with your tools, then reply "
                "with that alone: one number, time or word."
            )
            data = FerryData(prompt=prompt, answer=row["answer"])
            yield FerryTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: FerryConfig) -> list[vf.Toolset]:
        return [FerryTools(config.tools)]
