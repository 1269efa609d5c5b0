import verifiers.v1 as vf

from tooled.toolset import Tools


class Data(vf.TaskData):
    pass


class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def spoke(self, trace: vf.Trace) -> float:
        return float(bool(trace.last_reply))


class Config(vf.TasksetConfig):
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class Tooled(vf.Taskset[Task, Config]):
    def load(self):
        for number in range(3):
            yield Task(Data(prompt=f"Use tool {number}."), self.config.task)

    @classmethod
    def toolsets(cls, config):
        return [Tools(config.tools)]
