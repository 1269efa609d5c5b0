"""The audit against environments whose one defect is known, and its speed.

Each part of the ground truth is told apart. An environment is caught when a finding's rule
has its planted class; any other finding of severity warn or more is a false alarm.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.speed import ROOT, SUMS, Ratio, bare, cpu_of, python_of_venv, run_async, settings
from envwright.app import App
from envwright.app.audit import AuditOptions, audit, probing_of
from envwright.app.sweep import Watch
from envwright.errors import EnvwrightError
from envwright.finding import Severity
from envwright.probe.reply.overlap import is_explained
from envwright.probe.rules import RULES
from envwright.work.probe import Seen, probe

DEFECTS = ROOT / "tests" / "defects"
SOUND, TRUTH = "sound", "truth.toml"
LEAST = 0.95
AT_ONCE = 2
TASKS, SAMPLED = 1000, 100
MANY = {"num_tasks": TASKS, "max_term": 100}
IMPORT = "import verifiers.v1"
LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Judged:
    """What the audit made of one environment."""

    name: str
    planted: str
    found: tuple[str, ...]
    """The rules of findings of severity warn or more."""
    named: tuple[str, ...]
    """The rules of all findings."""
    problem: str | None = None

    @property
    def caught(self) -> bool:
        return any(RULES[rule].defect == self.planted for rule in self.named)

    @property
    def false_alarms(self) -> list[str]:
        return [rule for rule in self.found if RULES[rule].defect != self.planted]


async def judge(folder: Path, app: App) -> Judged:
    """Audited as its author would publish it: the truth is not beside it."""
    truth = tomllib.loads((folder / TRUTH).read_text())
    copy = app.settings.home / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(TRUTH, "__pycache__"))
    watch = Watch(lambda *_: None, lambda *_: None, asyncio.Event())
    options = AuditOptions(
        environment=str(copy), goal=truth["goal"], gold_field=truth.get("gold_field")
    )
    try:
        card = (await audit(app, options, watch)).card
    except EnvwrightError as error:
        return Judged(folder.name, truth["class"], (), (), str(error))
    # What is only noted as of another's cause is neither caught nor alarmed of.
    findings = [f for check in card.checks for f in check.findings if not is_explained(f)]
    return Judged(
        name=folder.name,
        planted=truth["class"],
        found=tuple(sorted({f.rule for f in findings if f.severity is not Severity.INFO})),
        named=tuple(sorted({f.rule for f in findings})),
    )


async def judge_all(folders: list[Path]) -> list[Judged]:
    room = asyncio.Semaphore(AT_ONCE)

    async def one(folder: Path) -> Judged:
        async with room:
            with tempfile.TemporaryDirectory() as home:
                # Each closes its hosts before the next begins.
                app = App(settings(home), sandbox="bubblewrap", say=lambda _: None)
                async with app:
                    judged = await judge(folder, app)
            print(f"  {told(judged)}", file=sys.stderr, flush=True)
            return judged

    return await asyncio.gather(*map(one, folders))


def told(judged: Judged) -> str:
    if judged.problem:
        return f"{judged.name}: not audited: {judged.problem}"
    false = ", ".join(f"{rule} {RULES[rule].name}" for rule in judged.false_alarms)
    said = [f"false alarm: {false}"] if false else []
    if judged.planted != SOUND:
        said.insert(0, "caught" if judged.caught else f"MISSED {judged.planted}")
    return f"{judged.name}: {'; '.join(said) or 'nothing said'}"


def part(name: str, wanted: float | None) -> list[Ratio]:
    """Recall and precision on one part; without a wanted value they are told as they are."""
    folders = sorted(path.parent for path in (DEFECTS / name).glob(f"*/{TRUTH}"))
    if not folders:
        return []
    return ratios_of(name, run_async(judge_all(folders)), wanted)


def ratios_of(name: str, judged: list[Judged], wanted: float | None) -> list[Ratio]:
    planted = [each for each in judged if each.planted != SOUND]
    caught = [each for each in planted if each.caught]
    alarms = [(each.name, rule) for each in judged for rule in each.false_alarms]
    broken = [each.name for each in judged if each.problem]
    misses = [f"{each.name} ({each.planted})" for each in planted if not each.caught]
    recall = len(caught) / len(planted) if planted else 0.0
    precision = len(caught) / (len(caught) + len(alarms)) if caught or alarms else 0.0
    said = f"{len(planted)} planted, {len(judged) - len(planted)} sound"
    missed = f"{said}; missed: {', '.join(misses) or 'none'}"
    if broken:
        missed += f"; not audited: {', '.join(broken)}"
    false = ", ".join(f"{env} {rule}" for env, rule in alarms) or "none"
    words = "as it is" if wanted is None else f">= {wanted}"
    return [
        Ratio(f"audit, {name} part: recall", recall, words, holds(recall, wanted), missed),
        Ratio(
            *(f"audit, {name} part: precision", precision, words, holds(precision, wanted)),
            f"{said}; false alarms: {false}",
        ),
    ]


def holds(value: float, wanted: float | None) -> bool:
    return wanted is None or value >= wanted


def truth() -> list[Ratio]:
    later = [ratio for name in ("second", "third", "fourth") for ratio in part(name, None)]
    return [*part("first", LEAST), *later]


def probe_rate() -> list[Ratio]:
    """Replies per second of the reply probes against a bare loop over `task.score`."""
    seen = run_async(probe_sums())
    raw = seen.scored / bare("scores", "sums", seen.scored)["seconds"]
    ours = seen.scored / seen.seconds
    rules = len({report.rule for report in seen.reports})
    figures = (
        f"{ours:.0f}/s, bare {raw:.0f}/s; {seen.scored} replies to {SAMPLED} of {TASKS} tasks, "
        f"{rules} rules"
    )
    value = ours / raw
    return [
        Ratio("rate of reply probes against task.score", value, ">= 0.5", value >= 0.5, figures)
    ]


async def probe_sums() -> Seen:
    with tempfile.TemporaryDirectory() as home:
        async with App(settings(home), sandbox="bubblewrap", say=lambda _: None) as app:
            gateway = app.gateway()
            options = AuditOptions(
                environment=str(SUMS), goal="sums", args=MANY, probe_tasks=SAMPLED
            )
            loaded = await app.load(await app.resolve(str(SUMS)), options.args, gateway)
            return await probe(await probing_of(app, options, loaded, gateway, None))


def audit_cpu() -> list[Ratio]:
    """The whole command, its hosts included, against one import of verifiers."""
    verifiers = min(cpu_of([str(python_of_venv()), "-c", IMPORT]) for _ in range(3))
    with tempfile.TemporaryDirectory() as home:
        command = [
            *(sys.executable, "-m", "envwright", "audit", str(SUMS), "--goal", "sums"),
            *("--out", f"{home}/card.json"),
        ]
        venvs = str(ROOT / ".envwright" / "venvs")
        ours = cpu_of_all(command, {"ENVWRIGHT_HOME": home, "ENVWRIGHT_VENVS": venvs})
    value = ours / verifiers
    figures = f"audit {ours:.1f} s, import of verifiers {verifiers:.1f} s"
    what = "CPU of an audit against importing verifiers"
    return [Ratio(what, value, "<= 8", value <= 8, figures)]


def cpu_of_all(command: list[str], variables: dict[str, str]) -> float:
    """CPU seconds of a command and of all below it.

    Hosts are killed in namespaces of their own, so that nobody who waits is told what they
    took: each process is looked at while it lives, often.
    """
    child = subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seen: dict[tuple[int, str], float] = {}
    while child.poll() is None:
        seen |= cpu_below(child.pid)
        time.sleep(LOOK_SECONDS)
    return sum(seen.values())


def cpu_below(root: int) -> dict[tuple[int, str], float]:
    """Process and when it began → its CPU seconds, of all that live under `root`."""
    ticks = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    found: dict[int, tuple[str, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            found[int(folder.name)] = (fields[19], (int(fields[11]) + int(fields[12])) / ticks)
    ours = {root}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return {(pid, found[pid][0]): found[pid][1] for pid in ours if pid in found}


BENCHES: dict[str, Callable[[], list[Ratio]]] = {
    "audit-truth": truth,
    "audit-rate": probe_rate,
    "audit-cpu": audit_cpu,
}
