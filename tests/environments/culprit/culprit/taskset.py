import verifiers.v1 as vf

from culprit import grade


class Data(vf.TaskData):
    answer: str


class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        return await grade(trace.last_reply or "", self.data.answer)


class Config(vf.TasksetConfig):
    pass


class Culprits(vf.Taskset[Task, Config]):
    def load(self):
        for n in range(6):
            yield Task(Data(prompt=f"Say {n}.", answer=str(n)), self.config.task)
