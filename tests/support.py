"""Builders for tests: environments on disk, the command line, a provider on loopback."""

import io
import json
import os
import shutil
import subprocess
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envwright.cli import main

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DEPENDENCIES = ("verifiers>=0.4,<0.5",)
"""The same as the examples', so that all share one venv."""
DEPENDENCIES_V0 = ("verifiers==0.1.14",)
"""The same as that of `examples/sums_v0`."""

DIALECTS = {"verifiers": DEPENDENCIES, "verifiers-v0": DEPENDENCIES_V0}


def under(dialect: str, package: Path, folder: Path) -> Path:
    """A copy of a package that was written for every dialect, which asks for this one."""
    root = folder / package.name
    shutil.copytree(package, root)
    project = root / "pyproject.toml"
    (own,), (wanted,) = DEPENDENCIES, DIALECTS[dialect]
    project.write_text(project.read_text().replace(own, wanted))
    return root


TASKSET = """
import asyncio, os, sys, time
import verifiers.v1 as vf

{imports}

class Data(vf.TaskData):
    answer: str

class Task(vf.Task[Data]):
{task}

class Config(vf.TasksetConfig):
    num_tasks: int = {count}

class Tasks(vf.Taskset[Task, Config]):
{taskset}
    def load(self):
        for i in range(self.config.num_tasks):
            yield Task(Data(prompt=f"Say {{i}}.", answer=str(i)), self.config.task)
"""

EXACT = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    return float((trace.last_reply or "").strip() == self.data.answer)
"""


def make_environment(
    folder: Path,
    *,
    name: str = "probe",
    task: str = EXACT,
    imports: str = "",
    taskset: str = "",
    count: int = 8,
    source: str | None = None,
    dependencies: tuple[str, ...] = DEPENDENCIES,
) -> Path:
    """A verifiers package whose Task class has the body `task`; `source` replaces the module."""
    root = folder / name
    package = root / name
    package.mkdir(parents=True)
    deps = json.dumps(list(dependencies))
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "0.1.0"\ndependencies = {deps}\n'
    )
    body = source or TASKSET.format(
        imports=textwrap.dedent(imports),
        task=indented(task),
        taskset=indented(taskset),
        count=count,
    )
    (package / "__init__.py").write_text(body if source else body + '\n__all__ = ["Tasks"]\n')
    return root


def indented(body: str) -> str:
    return textwrap.indent(textwrap.dedent(body), "    ") or "    pass"


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]


@dataclass(frozen=True)
class CommandLine:
    variables: dict[str, str]
    folder: Path

    def command(self, *args: object) -> list[str]:
        return [sys.executable, "-m", "envwright", *map(str, args)]

    def __call__(self, *args: object, timeout: float = 180, **variables: str) -> Finished:
        done = subprocess.run(
            self.command(*args),
            cwd=self.folder,
            env={**self.variables, **variables},
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def start(self, *args: object, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*args),
            cwd=self.folder,
            env={**self.variables, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@dataclass(frozen=True)
class Inside:
    """The same commands in this process: seconds are saved where none has to be killed."""

    variables: dict[str, str]
    folder: Path

    def __call__(self, *args: object, **variables: str) -> Finished:
        out, err = io.StringIO(), io.StringIO()
        before = sys.argv, dict(os.environ), Path.cwd()
        try:
            sys.argv = ["envwright", *map(str, args)]
            os.chdir(self.folder)
            replace_variables({**self.variables, **variables})
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as ended:
            return Finished(int(ended.code or 0), out.getvalue(), err.getvalue())
        finally:
            sys.argv = before[0]
            replace_variables(before[1])
            os.chdir(before[2])


def replace_variables(variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def processes_with(word: str) -> list[int]:
    """Processes of this machine with `word` among their arguments, sandboxes included."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                arguments = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if word.encode() in arguments:
                found.append(int(folder.name))
    return found
