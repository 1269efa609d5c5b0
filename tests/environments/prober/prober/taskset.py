import verifiers.v1 as vf

from prober import results, status_of


class Data(vf.TaskData):
    probe: str = ""
    went: str = ""


class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def status(self, trace: vf.Trace) -> float:
        return await status_of((trace.last_reply or "").strip())


class Config(vf.TasksetConfig):
    outside: dict = {}
    only: list[str] = []


class Prober(vf.Taskset[Task, Config]):
    def load(self):
        for row in results(self.config.outside, self.config.only) or [{}]:
            yield Task(Data(prompt="Name a token.", **row), self.config.task)
