"""The ratios that the first issue sets. Each function measures both sides in one run."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
import uvloop

from envwright.app import App
from envwright.app import sweep as sweeps
from envwright.app.sweep import Watch
from envwright.cli.env import print_scoring, read_replies
from envwright.environment import read_folder
from envwright.host.dialect import requirements_of
from envwright.host.venv import REQUIREMENTS
from envwright.options import RunOptions, SweepOptions
from envwright.settings import Settings, read_settings
from envwright.store import Store, schema
from envwright.store.status import Counts
from envwright.work.grader import Grader
from envwright.work.score import score_pairs

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
SUMS = ROOT / "examples" / "sums"
CONCURRENCY = 32
TRIALS = 1500
VF_EVAL_TRIALS = 40
SCORES = 1000


@dataclass
class Ratio:
    what: str
    value: float
    wanted: str
    holds: bool
    figures: str


@contextmanager
def provider(*workload: str) -> Iterator[str]:
    """Its URL; without the name of a workload it answers at once."""
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.provider", *workload],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert child.stdout is not None
        yield child.stdout.readline().strip()
    finally:
        child.kill()
        child.wait()


def settings(home: str, database: str | None = None) -> Settings:
    venvs = str(ROOT / ".envwright" / "venvs")
    variables = {**os.environ, "ENVWRIGHT_HOME": home, "ENVWRIGHT_VENVS": venvs}
    variables["ENVWRIGHT_DATABASE_URL"] = database or ""
    return read_settings(variables, Path(home))


class Meter:
    """Watches a sweep: when its trials ended, and how large this process was then."""

    def __init__(self, warm_up: int, marks: tuple[int, ...] = ()) -> None:
        self.warm_up = warm_up
        self.marks = marks
        self.ended: list[float] = []
        """When each trial did, in order."""
        self.rss: dict[int, int] = {}

    def planned(self, sweep: str, trials: int, scored: int) -> None:
        return None

    def seen(self, counts: Mapping[tuple[str, str], Counts], parked: object) -> None:
        scored = sum(each.scored for each in counts.values())
        for mark in self.marks:
            if scored >= mark and mark not in self.rss:
                self.rss[mark] = rss_bytes()

    def read(self, store: Store, sweep: str) -> None:
        trial, own = schema.trial, schema.sweep_trial
        statement = (
            sa.select(trial.c.outcome, trial.c.finished_at)
            .join(own, own.c.trial == trial.c.id)
            .where(own.c.sweep == sweep)
        )
        with store.engine.connect() as connection:
            rows = connection.execute(statement).all()
        assert all(row.outcome == "scored" for row in rows)
        self.ended = sorted(row.finished_at.timestamp() for row in rows)

    @property
    def rate(self) -> float:
        return (len(self.ended) - self.warm_up) / (self.ended[-1] - self.ended[self.warm_up - 1])


def rss_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


async def sweep(
    url: str, trials: int, meter: Meter, environment: Path = SUMS, database: str | None = None
) -> None:
    with tempfile.TemporaryDirectory() as home:
        async with App(settings(home, database), sandbox="bubblewrap", say=lambda _: None) as app:
            options = RunOptions(
                environment=str(environment),
                agents=("chat:instant",),
                endpoint=url,
                tasks=100,
                trials=trials // 100,
                limit=CONCURRENCY,
            )
            watch = Watch(meter.planned, meter.seen, asyncio.Event())
            result = await sweeps.run(app, SweepOptions(runs=(options,)), watch)
            meter.read(app.store, result.sweep)


def run_async(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


def python_of_venv(environment: Path = SUMS) -> Path:
    """The interpreter that its hosts run under."""
    wanted, _ = requirements_of(read_folder(environment))
    for stamp in sorted((ROOT / ".envwright" / "venvs").glob("*.complete")):
        venv = stamp.with_suffix("")
        if (venv / REQUIREMENTS).read_text().splitlines() == [*wanted]:
            return venv / "bin" / "python"
    raise SystemExit(f"error: no venv yet. hint: run `envwright env inspect {environment}` first")


def bare(*args: object, environment: Path = SUMS) -> dict[str, float]:
    done = subprocess.run(
        [python_of_venv(environment), ROOT / "bench" / "bare.py", *map(str, args)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{environment}", "OPENAI_API_KEY": "none"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def vf_eval_rate(url: str) -> float:
    """Rollouts per second from the first to the last that vf-eval finished."""
    with tempfile.TemporaryDirectory() as folder:
        uv = Path(sys.executable).parent
        environment = {
            **os.environ,
            "PYTHONPATH": str(SUMS),
            "PATH": f"{uv}:{os.environ['PATH']}",
            "BENCH_KEY": "none",
        }
        command = [
            *(python_of_venv().parent / "vf-eval", "sums", "-m", "instant"),
            *("-r", "1", "-c", str(CONCURRENCY), "--no-push", "-o", folder),
            *("--select.limit", str(VF_EVAL_TRIALS)),
            *("--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess"),
            *("--client.base-url", url, "--client.api-key-var", "BENCH_KEY"),
        ]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
        traces = [
            trace
            for file in Path(folder).rglob("traces.jsonl")
            for line in file.read_text().splitlines()
            for trace in json.loads(line)["traces"]
        ]
        if len(traces) < VF_EVAL_TRIALS:
            raise SystemExit(f"error: vf-eval ended {len(traces)} rollouts: {done.stderr[-2000:]}")
        assert all(trace["ok"] for trace in traces), traces[0]["errors"]
        begun = min(trace["timing"]["start"] for trace in traces)
        ended = max(trace["timing"]["scoring"]["end"] for trace in traces)
        return len(traces) / (ended - begun)


def trials_per_second() -> list[Ratio]:
    with provider() as url:
        other = vf_eval_rate(url)
        result = bare("episodes", "sums", url, TRIALS, CONCURRENCY)
        in_process = TRIALS / result["seconds"]
        meter = Meter(warm_up=200)
        run_async(sweep(url, TRIALS, meter))
    ours = meter.rate
    figures = f"run {ours:.1f}/s, vf-eval {other:.2f}/s, in process {in_process:.1f}/s"
    return [
        Ratio("trials/s against vf-eval", ours / other, ">= 50", ours / other >= 50, figures),
        Ratio(
            *("trials/s against the harness in process", ours / in_process, ">= 0.5"),
            *(ours / in_process >= 0.5, figures),
        ),
    ]


def score_cpu() -> list[Ratio]:
    """CPU of what `env score --replies` does once it is loaded, in this process and the host's."""
    loop = bare("scores", "sums", SCORES)["cpu"]
    ours = run_async(score_replies())
    value = ours / loop
    figures = f"env score {ours:.2f} s, bare loop {loop:.2f} s for {SCORES} replies"
    return [Ratio("CPU of env score against a bare loop", value, "<= 2", value <= 2, figures)]


async def score_replies() -> float:
    with tempfile.TemporaryDirectory() as home:
        replies = Path(home) / "replies.jsonl"
        rows = [{"task": n % 100, "reply": f"The sum is {n}."} for n in range(SCORES)]
        replies.write_text("".join(json.dumps(row) + "\n" for row in rows))
        async with App(settings(home), sandbox="bubblewrap", say=lambda _: None) as app:
            gateway = app.gateway()
            loaded = await app.load(await app.resolve(str(SUMS)), {}, gateway)
            grader = Grader(gateway, None)
            warm = read_replies(replies)[:1]
            await score_pairs(loaded, warm, grader)
            before = cpu_of_tree()
            with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
                pairs = read_replies(replies)
                for (name, _), each in zip(
                    pairs, await score_pairs(loaded, pairs, grader), strict=True
                ):
                    print_scoring(name, each, as_json=True)
            return cpu_of_tree() - before


def cpu_of_tree() -> float:
    """CPU seconds of this process and all below it that are alive."""
    stats: dict[int, tuple[int, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            stats[int(folder.name)] = (int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"))
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _) in stats.items() if parent in ours} - ours:
        ours |= more
    return sum(stats[pid][1] for pid in ours)


def memory_growth() -> list[Ratio]:
    meter = Meter(warm_up=200, marks=(1000, 5000))
    with provider() as url:
        run_async(sweep(url, 5000, meter))
    each = (meter.rss[5000] - meter.rss[1000]) / 4000
    figures = (
        f"{meter.rss[1000] / 2**20:.1f} MB at 1,000, {meter.rss[5000] / 2**20:.1f} MB at 5,000"
    )
    return [Ratio("bytes of RSS per trial", each, "< 2048", each < 2048, figures)]


def help_cpu() -> list[Ratio]:
    ours = min(cpu_of([sys.executable, "-m", "envwright", "--help"]) for _ in range(10))
    bare_python = min(cpu_of([sys.executable, "-c", "pass"]) for _ in range(10))
    value = ours / bare_python
    figures = f"{ours * 1000:.0f} ms, python -c pass {bare_python * 1000:.0f} ms"
    return [Ratio("CPU of --help against python -c pass", value, "<= 8", value <= 8, figures)]


def cpu_of(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


BENCHES: dict[str, Callable[[], list[Ratio]]] = {
    "trials": trials_per_second,
    "score": score_cpu,
    "memory": memory_growth,
    "help": help_cpu,
}
