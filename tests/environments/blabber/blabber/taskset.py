import verifiers.v1 as vf

from blabber import TASKS, judged


class Data(vf.TaskData):
    does: str


class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def blabbed(self, trace: vf.Trace) -> float:
        return judged(self.data.does, trace.last_reply or "")


class Blabber(vf.Taskset[Task, vf.TasksetConfig]):
    def load(self):
        for does in TASKS:
            yield Task(Data(prompt=f"Say {does}.", does=does), self.config.task)
