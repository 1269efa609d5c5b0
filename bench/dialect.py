"""Ratios of verifiers 0.1, and of a host that is warm. Each measures both sides in one run."""

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench.speed import (
    CONCURRENCY,
    ROOT,
    SUMS,
    TRIALS,
    Meter,
    Ratio,
    bare,
    provider,
    python_of_venv,
    run_async,
    settings,
    sweep,
)
from envwright.app import App

SUMS_V0 = ROOT / "examples" / "sums_v0"
VF_EVAL_TRIALS = 500
CALLS = 100


def vf_eval_rate(url: str) -> float:
    """Rollouts per second from the first to the last that vf-eval finished."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(
                python_of_venv(SUMS_V0),
                python_of_venv(SUMS_V0).parent / "vf-eval",
                "sums_v0",
                "-m",
                "instant",
            ),
            *("-n", "100", "-r", str(VF_EVAL_TRIALS // 100), "-c", str(CONCURRENCY)),
            *("-b", url, "-k", "BENCH_KEY", "-s", "-o", folder),
            *("--disable-tui", "--disable-env-server"),
        ]
        variables = {"PYTHONPATH": str(SUMS_V0), "BENCH_KEY": "none", "HF_HUB_OFFLINE": "1"}
        environment = {**os.environ, **variables}
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
        files = Path(folder).rglob("results.jsonl")
        rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    if len(rows) < VF_EVAL_TRIALS:
        raise SystemExit(f"error: vf-eval ended {len(rows)} rollouts: {done.stderr[-2000:]}")
    assert all(row["error"] is None for row in rows)
    begun = min(row["timing"]["start_time"] for row in rows)
    ended = max(row["timing"]["scoring"]["end"] for row in rows)
    return len(rows) / (ended - begun)


def trials_of_v0() -> list[Ratio]:
    with provider() as url:
        other = vf_eval_rate(url)
        result = bare("rollouts", "sums_v0", url, TRIALS, CONCURRENCY, environment=SUMS_V0)
        loop = TRIALS / result["seconds"]
        ours = bare("episodes", "sums_v0", url, TRIALS, CONCURRENCY, environment=SUMS_V0)
        in_process = TRIALS / ours["seconds"]
        meter = Meter(warm_up=200)
        run_async(sweep(url, TRIALS, meter, SUMS_V0))
    value = meter.rate / loop
    figures = (
        f"run {meter.rate:.1f}/s, run_rollout {loop:.1f}/s, vf-eval {other:.1f}/s, "
        f"the host's own loop in process {in_process:.1f}/s"
    )
    what = "v0 trials/s against a bare loop of run_rollout"
    return [Ratio(what, value, ">= 0.5", value >= 0.5, figures)]


def describe() -> list[Ratio]:
    ratios: list[Ratio] = []
    for root in (SUMS, SUMS_V0):
        cold, warm = run_async(describe_twice(root))
        value = cold / warm
        figures = f"cold {cold:.2f} s, warm {warm * 1000:.2f} ms"
        what = f"describe by a cold host of {root.name} against a warm one"
        ratios.append(Ratio(what, value, ">= 20", value >= 20, figures))
    return ratios


async def describe_twice(root: Path) -> tuple[float, float]:
    """Seconds until a host that is not there describes it, and until it does so again."""
    with tempfile.TemporaryDirectory() as home:
        async with App(settings(home), sandbox="bubblewrap", say=lambda _: None) as app:
            source = await app.resolve(str(root))
            started = time.monotonic()
            loaded = await app.load(source, {}, app.gateway())
            cold = time.monotonic() - started
            took: list[float] = []
            for _ in range(CALLS):
                started = time.monotonic()
                await loaded.pool.call("describe", {}, seconds=60)
                took.append(time.monotonic() - started)
            return cold, statistics.median(took)
