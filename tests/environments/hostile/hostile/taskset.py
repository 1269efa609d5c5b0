import verifiers.v1 as vf

from hostile import WAYS, misbehave, words_of


class Data(vf.TaskData):
    does: str
    words: str = ""


class Task(vf.Task[Data]):
    async def setup(self, trace, runtime):
        await misbehave("setup", self.data.does)

    async def finalize(self, trace, runtime):
        await misbehave("finalize", self.data.does)

    @vf.metric
    async def length(self, trace: vf.Trace) -> float:
        return await misbehave("metric", self.data.does, float(len(trace.last_reply or "")))

    @vf.reward(weight=1.0)
    async def paid(self, trace: vf.Trace):
        return await misbehave("reward", self.data.does, 1.0)


class Config(vf.TasksetConfig):
    pass


class Hostile(vf.Taskset[Task, Config]):
    def load(self):
        for does in WAYS:
            words = words_of(does)
            data = Data(prompt=f"Watch: {does}. {words}", does=does, words=words)
            yield Task(data, self.config.task)
