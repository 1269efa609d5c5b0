"""An environment that does not load says why in one line, and a row that changes is noticed."""

import asyncio
from pathlib import Path

import pytest

from bed import Bed, make_bed
from envwright.agent import AgentKind, AgentSpec, Assignment
from envwright.errors import Cause, EnvironmentFailure
from envwright.trial import Failed, Limits, TrialSpec
from envwright.trial.run import Bench, run
from support import make_environment

SOURCE = """import ctypes, os, sys
import verifiers.v1 as vf
{first}
class Data(vf.TaskData):
    answer: str = "1"
    weight: float = 1.0

class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def paid(self, trace: vf.Trace) -> float:
        return 1.0

class Tasks(vf.Taskset[Task, vf.TasksetConfig]):
    def load(self):
        {load}
        yield Task(Data(prompt="Say 1.", {row}), self.config.task)

class More(Tasks):
    pass

__all__ = {exported}
"""


def source(first: str = "", load: str = "", row: str = "", exported: str = "['Tasks']") -> str:
    return SOURCE.format(first=first, load=load or "pass", row=row, exported=exported)


BROKEN = {
    # name: (its module, what the one line must say)
    "lacks_a_dependency": (
        source("import no_such_module"),
        ("imports 'no_such_module'", "declare it in the dependencies of its pyproject.toml"),
    ),
    "does_not_parse": (source("def broken(:"), ("SyntaxError", "__init__.py, line 3")),
    "raises_at_import": (
        source("raise RuntimeError('no way in')"),
        ("RuntimeError: no way in", "raises_at_import/__init__.py:3"),
    ),
    "exports_two": (
        source(exported="['Tasks', 'More']"),
        ("exports 2 Taskset subclasses", "['Tasks', 'More']", "export exactly one"),
    ),
    "exports_none": (source(exported="[]"), ("exports no Taskset subclass",)),
    "raises_in_load": (
        source(load="raise KeyError('split')"),
        ("KeyError: 'split'", "raises_in_load/__init__.py:15"),
    ),
    "exits_at_import": (source("sys.exit(4)"), ("SystemExit: 4", "exits_at_import/__init__.py:3")),
    "leaves_at_import": (source("os._exit(9)"), ("its process ended", "exit code 9")),
    "crashes_in_load": (
        source(load="ctypes.string_at(0)"),
        ("its process ended", "signal 11 ended it"),
    ),
    "holds_nan": (source(row="weight=float('nan')"), ("task 0: its row holds NaN or infinity",)),
}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    with make_bed(tmp_path_factory.mktemp("load"), venvs) as made:
        yield made


@pytest.fixture(scope="module")
def failures(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> dict[str, BaseException | None]:
    """What loading each of them, two at a time, ended with."""
    folder = tmp_path_factory.mktemp("broken")
    slots = asyncio.Semaphore(2)

    async def fail(name: str, module: str) -> None:
        root = make_environment(folder, name=name, source=module)
        async with slots:
            loaded = await bed.load(root)
            await loaded.tasks(0, 1)

    async def all_of_them() -> dict[str, BaseException | None]:
        loads = (fail(name, module) for name, (module, _) in BROKEN.items())
        ended = await asyncio.gather(*loads, return_exceptions=True)
        return dict(zip(BROKEN, ended, strict=True))

    return bed.do(all_of_them())


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_an_environment_that_does_not_load_says_why_and_where(failures, name):
    error = failures[name]
    assert isinstance(error, EnvironmentFailure), repr(error)
    for words in BROKEN[name][1]:
        assert words in str(error)
    assert name in str(error), "it does not say which environment"
    assert error.hint


@pytest.mark.slow
def test_a_row_that_is_another_one_on_reload_is_the_environments_failure(bed, tmp_path):
    chance = source("import secrets", row="answer=secrets.token_hex(8)")
    loaded = bed.do(bed.load(make_environment(tmp_path, name="chance", source=chance)))

    (task,) = bed.do(loaded.tasks(0, 1))
    agent = AgentSpec(kind=AgentKind.NOOP)
    spec = TrialSpec(revision=loaded.environment.revision, index=0, key=task.key, agent=agent)
    bench = Bench(loaded.pool, bed.gateway, None, None, Limits(), Assignment(agent=agent))
    # A process of its own is another one than that which told the rows.
    _, grade = bed.do(run(spec, 1, bench, isolated=True))
    assert grade is not None
    assert isinstance(grade.outcome, Failed), grade.outcome
    assert grade.outcome.cause is Cause.ENVIRONMENT
    assert "task 0 is another one than when the trial was planned" in grade.outcome.detail
    assert "load() is not deterministic" in grade.outcome.detail
