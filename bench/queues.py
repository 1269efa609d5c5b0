"""The ratios that queues are held to. Each measures both sides in one run, on a workload file."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench.history import multiply_trials
from bench.speed import ROOT, Meter, Ratio, provider, run_async, settings
from bench.workload import Load, Workload, read_workload
from envwright.app import App
from envwright.app import sweep as sweeps
from envwright.app.sweep import Watch
from envwright.options import RunOptions, SweepOptions
from envwright.queue import Job
from envwright.queue.dispatch import IDLE_POLL_SECONDS
from envwright.settings import ModelTable
from envwright.work import sweep as sweep_work

MOST_MAKESPAN = 1.12
LEAST_DRAIN = 0.8
ROUNDS = 2
MOST_MEMORY_MB = 600
MOST_IDLE = 2.0
IDLE_QUEUES, IDLE_SECONDS, SETTLE_SECONDS = 20, 20.0, 5.0
ALL = "all"
"""The one queue beside which the others are measured."""


def options_of(workload: Workload, url: str) -> SweepOptions:
    environment = str(ROOT / workload.environment)
    return SweepOptions(
        runs=tuple(
            RunOptions(environment, (f"chat:{load.name}",), tasks=load.tasks, trials=load.trials)
            for load in workload.models
        ),
        models={load.name: ModelTable(base_url=url, limit=load.limit) for load in workload.models},
        limits={load.name: load.limit for load in workload.models},
    )


@contextmanager
def one_queue() -> Generator[None]:
    """Every trial in the same queue, in no order; the gateway still keeps each model's limit."""
    own = sweep_work.job_of

    def job_of(*said: Any) -> Job:
        job = own(*said)
        return replace(job, queue=ALL, priority=int(job.id[-6:], 16))

    sweep_work.job_of = job_of
    try:
        yield
    finally:
        sweep_work.job_of = own


async def sweep(workload: Workload, url: str, meter: Meter, home: str) -> float:
    """Seconds from when it was submitted until it was over."""
    options = options_of(workload, url)
    begun = 0.0

    def planned(*_: object) -> None:
        nonlocal begun
        begun = time.time()

    own = options.over(settings(home))
    async with App(own, sandbox="bubblewrap", say=lambda _: None) as app:
        await app.jobs.ensure_queue(ALL, sum(load.limit for load in workload.models))
        watch = Watch(planned, meter.seen, asyncio.Event())
        result = await sweeps.run(app, options, watch)
        row = await sweep_work.read_sweep(app.store, result.sweep)
        meter.read(app.store, result.sweep)
        assert row.finished_at is not None
        return row.finished_at.timestamp() - begun


def tally(url: str) -> Mapping[str, Any]:
    with urlopen(f"{url}/tally") as answer:
        return json.load(answer)


def run_mixed(workload: Workload) -> tuple[float, Mapping[str, Any]]:
    with provider("mixed") as url, tempfile.TemporaryDirectory() as home:
        return run_async(sweep(workload, url, Meter(warm_up=1), home)), tally(url)


def makespan() -> list[Ratio]:
    workload = read_workload("mixed")
    took, asked = run_mixed(workload)
    with one_queue():
        alone, _ = run_mixed(workload)
    bounds = {load.name: load.bound(asked[load.name]["seconds"]) for load in workload.models}
    bound = max(bounds.values())
    each = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in bounds.items())
    refused = sum(one["refused"] for one in asked.values())
    figures = (
        f"{took:.1f} s, bound {bound:.1f} s ({each}), {refused} calls refused; "
        f"through one queue of the same total limit {alone:.1f} s, {alone / bound:.2f}"
    )
    value = took / bound
    what = "makespan of a mixed sweep against its lower bound"
    return [Ratio(what, value, f"<= {MOST_MAKESPAN}", value <= MOST_MAKESPAN, figures)]


def drain() -> list[Ratio]:
    """Alternating, and the best of each: what the machine does beside it hits both."""
    workload = read_workload("drain")
    load = workload.models[0]
    rates: dict[str, list[float]] = {"empty": [], "full": []}
    with provider() as url, tempfile.TemporaryDirectory() as home:
        full = Path(home) / "full"
        fill(workload, url, str(full))
        for n in range(ROUNDS):
            for name, seen in rates.items():
                meter = Meter(warm_up=200)
                where = str(full if name == "full" else Path(home) / f"empty-{n}")
                # What was measured before is not measured again: other trials of the same tasks.
                again = replace(workload, models=(replace(load, name=f"{name}-{n}"),))
                run_async(sweep(again, url, meter, where))
                seen.append(meter.rate)
    best = {name: max(seen) for name, seen in rates.items()}
    value = best["full"] / best["empty"]
    figures = ", ".join(
        f"{name} {rate:.1f} trials/s (of {' and '.join(f'{one:.1f}' for one in rates[name])})"
        for name, rate in best.items()
    )
    what = f"drain rate with {workload.finished:,} finished trials against an empty store"
    return [Ratio(what, value, f">= {LEAST_DRAIN}", value >= LEAST_DRAIN, figures)]


def fill(workload: Workload, url: str, home: str) -> None:
    few = Load("before", limit=32, tasks=100, trials=1)
    run_async(sweep(replace(workload, models=(few,)), url, Meter(warm_up=1), home))

    async def multiply() -> None:
        async with App(settings(home), sandbox="bubblewrap", say=lambda _: None) as app:
            multiply_trials(app.store.engine, workload.finished // few.tasks)

    run_async(multiply())


@contextmanager
def envwright(home: str, *words: str) -> Generator[subprocess.Popen[bytes]]:
    """A command in a process of its own."""
    variables = {
        **os.environ,
        "ENVWRIGHT_HOME": home,
        "ENVWRIGHT_VENVS": str(ROOT / ".envwright" / "venvs"),
        "ENVWRIGHT_DATABASE_URL": "",
    }
    command = [sys.executable, "-m", "envwright", *words]
    with (Path(home) / "said").open("w") as said:
        child = subprocess.Popen(
            command, env=variables, cwd=home, stdout=subprocess.DEVNULL, stderr=said
        )
        try:
            yield child
        finally:
            child.terminate()
            child.wait()


def flight() -> list[Ratio]:
    """The worker process alone: its hosts and sandboxes are others."""
    workload = read_workload("flight")
    load = workload.models[0]
    peak = 0
    with provider("flight") as url, tempfile.TemporaryDirectory() as home:
        words = ("-m", load.name, "--endpoint", url, "--concurrency", str(load.limit))
        words += ("-n", str(load.tasks), "-r", str(load.trials))
        with envwright(home, "run", str(ROOT / workload.environment), *words) as child:
            while child.poll() is None:
                peak = max(peak, peak_bytes(child.pid))
                time.sleep(0.2)
        assert child.returncode == 0, (Path(home) / "said").read_text()[-2000:]
        flown = tally(url)[load.name]["most_flying"]
    value = peak / 2**20
    figures = f"{flown} calls in flight at once, {load.tasks * load.trials} trials"
    holds = value < MOST_MEMORY_MB and flown == load.limit
    what = f"MB of RSS at its peak with {load.limit} trials in flight"
    return [Ratio(what, value, f"< {MOST_MEMORY_MB}", holds, figures)]


def peak_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def idle() -> list[Ratio]:
    """At the same time, so that what the machine does beside it hits both."""
    with tempfile.TemporaryDirectory() as home:
        run_async(make_queues(home))
        said = (f"{home}/bare.db", str(IDLE_QUEUES), str(IDLE_POLL_SECONDS))
        bare = subprocess.Popen(
            [sys.executable, ROOT / "bench" / "idle.py", *said],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert bare.stdout is not None
            assert bare.stdout.readline() == "ready\n"
            with envwright(home, "worker") as worker:
                while "worker " not in (Path(home) / "said").read_text():
                    assert worker.poll() is None
                    time.sleep(0.1)
                time.sleep(SETTLE_SECONDS)
                before = cpu_seconds(worker.pid), cpu_seconds(bare.pid)
                time.sleep(IDLE_SECONDS)
                ours = cpu_seconds(worker.pid) - before[0]
                other = cpu_seconds(bare.pid) - before[1]
                assert worker.poll() is None
        finally:
            bare.kill()
            bare.wait()
    value = ours / other
    share = 100 / IDLE_SECONDS
    figures = f"{ours * share:.1f} % of a core, bare DBOS {other * share:.1f} %"
    figures += f", polling every {IDLE_POLL_SECONDS} s"
    what = f"CPU of an idle worker with {IDLE_QUEUES} queues against bare DBOS"
    return [Ratio(what, value, f"<= {MOST_IDLE}", value <= MOST_IDLE, figures)]


async def make_queues(home: str) -> None:
    async with App(settings(home), sandbox="bubblewrap", say=lambda _: None) as app:
        for n in range(IDLE_QUEUES):
            await app.jobs.ensure_queue(f"queue-{n}", 8)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


BENCHES = {"makespan": makespan, "drain": drain, "flight": flight, "idle": idle}
