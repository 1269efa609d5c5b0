"""Warnings in a log."""

import random

import verifiers.v1 as vf

MESSAGES = [
    "disk at {n} percent",
    "user {n} logged in",
    "retry {n} of job",
    "cache has {n} entries",
    "took {n} ms",
    "{n} files removed",
    "queue length {n}",
    "port {n} opened",
]


def lines(text: str) -> list[str]:
    kept = (line.strip() for line in text.rpartition("</think>")[2].splitlines())
    return [line for line in kept if line and not line.startswith("```")]


class LogData(vf.TaskData):
    answer: str


class LogTask(vf.Task[LogData]):
    @vf.reward(weight=1.0)
    async def filtered(self, trace: vf.Trace) -> float:
        return float(lines(trace.last_reply or "") == lines(self.data.answer))


class LogConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class LogTaskset(vf.Taskset[LogTask, LogConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for i in range(self.config.num_tasks):
            warned = set() if i % 4 == 0 else set(rng.sample(range(5), rng.choice([1, 2])))
            log = [
                f"{'WARN' if at in warned else 'INFO'} {text.format(n=rng.randint(3, 97))}"
                for at, text in enumerate(rng.sample(MESSAGES, 5))
            ]
            prompt = (
                "Repeat the lines of this log that begin with WARN, unchanged and in order, and "
                "nothing else. If there is no such line, send an empty reply.\n\n" + "\n".join(log)
            )
            answer = "\n".join(line for line in log if line.startswith("WARN"))
            yield LogTask(LogData(prompt=prompt, answer=answer), self.config.task)


__all__ = ["LogTaskset"]
