"""Tasks whose signals want a runtime, whose gold has a check, and that need what is not there."""

import verifiers.v1 as vf

KINDS = (
    "valid",
    "invalid",
    "unchecked",
    "raises",
    "word",
    "paid_untouched",
    "leaves_one_out",
    "leaves_all_out",
    "image",
    "network",
)


class Data(vf.TaskData):
    kind: str
    answer: str


class Task(vf.Task[Data]):
    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        await runtime.write("given", b"kept")

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        await runtime.write("said", (trace.last_reply or "").encode())

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        done = await runtime.run(["cat", "given"], {})
        assert done.stdout == "kept"
        if self.data.kind == "raises":
            raise LookupError("a check of the environment's")
        answers = {"invalid": False, "unchecked": None, "word": "surely"}
        return answers.get(self.data.kind, True)

    async def score(self, trace, runtime=None):
        if self.data.kind == "leaves_all_out":
            trace.record_reward("own", 1.0)
            return
        if self.data.kind == "leaves_one_out":
            self.hooks = lambda attr: [f for f in vf.Task.hooks(self, attr) if f.__name__ != "bare"]
        try:
            await super().score(trace, runtime)
        finally:
            self.__dict__.pop("hooks", None)

    @vf.reward(weight=0.75)
    async def said(self, runtime: vf.Runtime) -> float:
        done = await runtime.run(["cat", "given", "said"], {})
        return float(done.stdout == f"kept{self.data.answer}")

    @vf.reward(weight=0.25)
    async def bare(self, trace: vf.Trace) -> dict[str, float]:
        return {"bare_one": 1.0 if self.data.kind == "paid_untouched" else 0.0, "bare_two": 0.0}

    @vf.reward(weight=1.0)
    async def paid(self) -> float:
        return float(self.data.kind == "paid_untouched")

    @vf.metric
    async def files(self, runtime: vf.Runtime) -> float:
        return float(len((await runtime.run(["ls"], {})).stdout.split()))


class Config(vf.TasksetConfig):
    kinds: list[str] = list(KINDS)


class Staged(vf.Taskset[Task, Config]):
    INFINITE = True

    def load(self):
        for kind in self.config.kinds:
            data = Data(
                prompt=f"Say {kind}.",
                kind=kind,
                answer=kind,
                image="python:3.11" if kind == "image" else None,
                network_block=["*.example"] if kind == "network" else [],
            )
            yield Task(data, self.config.task)


__all__ = ["Staged"]
