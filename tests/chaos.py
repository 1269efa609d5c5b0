"""Chaos: a sweep on three models, three workers that are killed and come back, a rough provider.

`Chaos` submits the sweep, plays its part until the workers have nothing left to do, and
keeps what it did; the checks compare that with what the store and the provider have.
"""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crowd import USAGE
from envwright.store import Store, schema
from support import CommandLine, make_environment

MODELS = ("chaos/one", "chaos/two", "chaos/three")
TASKS = 67
"""On each model: 201 trials."""
TURNS = 3
LIMIT = 5
WORKERS = 3
MOST_KILLS = 8
KILL_EVERY = (10.0, 20.0)
TOKENS = sum(USAGE)
USAGE_ERROR = 2

TALK = f"""
import verifiers.v1 as vf

class Data(vf.TaskData):
    number: int

class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def talked(self, trace: vf.Trace) -> float:
        return float(trace.num_turns == {TURNS})

class Tasks(vf.Taskset[Task, vf.TasksetConfig]):
    def load(self):
        for number in range({TASKS}):
            yield Task(Data(prompt=f"Task {{number}}", number=number), self.config.task)

class TalkConfig(vf.EnvConfig):
    speaker: vf.AgentConfig = vf.AgentConfig()

class Talk(vf.Env[TalkConfig]):
    async def run(self, task, agents):
        silent = type(task)(task.data.model_copy(update={{"prompt": None}}), task.config)
        async with agents.speaker.interaction(silent) as speaker:
            for turn in range({TURNS}):
                if (await speaker.turn(f"{{task.data.number}} {{turn}}")).terminated:
                    break

__all__ = ["Tasks", "Talk"]
"""


@dataclass(frozen=True)
class Request:
    """A line of the provider's log."""

    at: float
    pid: int | None
    model: str
    said: str
    status: int | None
    answered: float = 0.0
    wait: int = 0
    read: float | None = None
    """When the worker had read that it should wait."""

    @property
    def trial(self) -> tuple[str, int]:
        return self.model, int(self.said.split()[0])


@dataclass(frozen=True)
class Kill:
    at: float
    pid: int
    """Of the worker."""


def read_stat(pid: int) -> tuple[int, str] | None:
    """Its parent, and when it began."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else (int(fields[1]), fields[19])


def tree_of(root: int) -> dict[int, str]:
    """Every process below this one → when it began."""
    stats = {int(each.name): read_stat(int(each.name)) for each in Path("/proc").glob("[0-9]*")}
    children: defaultdict[int, list[int]] = defaultdict(list)
    for pid, stat in stats.items():
        if stat is not None:
            children[stat[0]].append(pid)
    found: dict[int, str] = {}
    ahead = [root]
    while ahead:
        for child in children[ahead.pop()]:
            stat = stats[child]
            if stat is not None:
                found[child] = stat[1]
                ahead.append(child)
    return found


def still_there(tree: dict[int, str]) -> list[int]:
    return [pid for pid, began in tree.items() if (stat := read_stat(pid)) and stat[1] == began]


@contextmanager
def crowd(folder: Path, seed: int) -> Iterator[tuple[str, Path]]:
    log = folder / "requests.jsonl"
    log.touch()
    program = Path(__file__).with_name("crowd.py")
    process = subprocess.Popen(
        [sys.executable, program, log, str(seed)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), log
    finally:
        process.kill()
        process.communicate()


@dataclass
class Chaos:
    envwright: CommandLine
    folder: Path
    store: Store
    seed: int
    kills: list[Kill] = field(default_factory=list)
    workers: list[subprocess.Popen[str]] = field(default_factory=list)
    ended: list[tuple[int, int]] = field(default_factory=list)
    """Workers that had nothing left to do, or should have: pid and exit code."""
    refused: list[int] = field(default_factory=list)
    """Workers that found no database when they began."""
    trees: list[dict[int, str]] = field(default_factory=list)
    """What the workers had started when they were killed."""
    stops: list[Kill] = field(default_factory=list)
    stopped: dict[int, float] = field(default_factory=dict)
    """Workers that were stopped for a while → when they go on."""
    down: list[tuple[float, float]] = field(default_factory=list)
    """When the database was away."""
    sweep: str = ""
    log: Path = Path()

    def submit(self, url: str) -> None:
        root = make_environment(self.folder, name="talk", source=TALK)
        tables = "".join(
            f'[models."{name}"]\nbase_url = "{url}"\nlimit = {LIMIT}\n' for name in MODELS
        )
        (self.folder / "envwright.toml").write_text(tables)
        agents = [word for name in MODELS for word in ("-m", name)]
        done = self.envwright("sweep", "submit", root, *agents, "--json")
        assert done.code == 0, done.err
        self.sweep = done.json["sweep"]

    def start_worker(self) -> subprocess.Popen[str]:
        with (self.folder / f"worker-{time.monotonic():.2f}.err").open("w") as err:
            return subprocess.Popen(
                self.envwright.command("worker", "--drain"),
                cwd=self.folder,
                env=self.envwright.variables,
                stdout=subprocess.DEVNULL,
                stderr=err,
                text=True,
                start_new_session=True,
            )

    def play(self, seconds: float, interlude: Callable[["Chaos"], None] | None = None) -> None:
        """Until the last worker has nothing left to do; the interlude is after the first kill."""
        chance = random.Random(self.seed)
        self.workers = [self.start_worker() for _ in range(WORKERS)]
        begun, next_kill = time.monotonic(), math.inf
        while self.workers:
            time.sleep(0.05)
            now = time.monotonic()
            assert now - begun < seconds, f"not over after {seconds} s: {self.states()}"
            self.wake(now)
            for worker in [each for each in self.workers if each.poll() is not None]:
                self.workers.remove(worker)
                if worker.returncode == USAGE_ERROR and self.was_down():
                    self.refused.append(worker.pid)
                    self.workers.append(self.start_worker())
                else:
                    self.ended.append((worker.pid, worker.returncode))
            if next_kill == math.inf and self.log.stat().st_size:
                # The first of them ask by now.
                next_kill = now + chance.uniform(*KILL_EVERY)
            if now < next_kill or len(self.kills) >= MOST_KILLS or not self.workers:
                continue
            self.kill(chance.choice(self.workers))
            next_kill = time.monotonic() + chance.uniform(*KILL_EVERY)
            if interlude is not None and len(self.kills) == 1:
                interlude(self)

    def was_down(self) -> bool:
        """Whether the database was just away."""
        return any(time.monotonic() - until < 5 for _, until in self.down)

    def stop(self, seconds: float) -> None:
        """One of them sleeps for a while, wherever it is."""
        worker = min(self.workers, key=lambda each: each.pid)
        self.stops.append(Kill(time.monotonic(), worker.pid))
        self.stopped[worker.pid] = time.monotonic() + seconds
        worker.send_signal(signal.SIGSTOP)

    def wake(self, now: float) -> None:
        for worker in self.workers:
            if now > self.stopped.get(worker.pid, math.inf):
                worker.send_signal(signal.SIGCONT)

    def kill(self, worker: subprocess.Popen[str]) -> None:
        self.trees.append(tree_of(worker.pid))
        self.kills.append(Kill(time.monotonic(), worker.pid))
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        self.workers[self.workers.index(worker)] = self.start_worker()

    def stop_all(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()

    # What is there afterwards

    def rows(self, table: sa.Table) -> list[Any]:
        return self.store.read(lambda connection: connection.execute(sa.select(table)).all())

    def states(self) -> dict[str, Any]:
        jobs = Counter((row.kind, row.state) for row in self.rows(schema.job))
        return {"jobs": jobs, "kills": self.kills, "ended": self.ended}

    def requests(self) -> list[Request]:
        lines = self.log.read_text().splitlines()
        return sorted((Request(**json.loads(line)) for line in lines), key=lambda each: each.at)

    def errors(self) -> list[str]:
        """What the workers said that nobody should have to read."""
        said = [file.read_text() for file in sorted(self.folder.glob("worker-*.err"))]
        lines = [line for text in said for line in text.splitlines()]
        return [line for line in lines if "error" in line.lower() or "Traceback" in line]
