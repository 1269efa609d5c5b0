import verifiers.v1 as vf


class Data(vf.TaskData):
    answer: str


class Task(vf.Task[Data]):
    @vf.reward(weight=0.5)
    async def said(self, trace: vf.Trace) -> float:
        return float(self.data.answer in (trace.last_reply or ""))


class Config(vf.TasksetConfig):
    num_tasks: int = 2


class Seated(vf.Taskset[Task, Config]):
    def load(self):
        for number in range(self.config.num_tasks):
            yield Task(Data(prompt=f"Say {number}.", answer=str(number)), self.config.task)
