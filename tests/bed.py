"""An environment loaded in process: its hosts, a gateway, a store, and sweeps over its tasks."""

import asyncio
import os
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import uvloop
from pydantic import TypeAdapter

from envwright.agent import AgentKind, AgentSpec
from envwright.agent.script import Script
from envwright.app import App
from envwright.app.plan import plan_request
from envwright.app.sweep import Watch, run_planned
from envwright.budget import Budget
from envwright.finding import Finding
from envwright.gateway import Gateway
from envwright.host import Loaded
from envwright.model import Model
from envwright.options import SweepOptions
from envwright.settings import EnvironmentTable, FileTables, LimitsTable, Settings
from envwright.store import trial as trials
from envwright.trace import Trace
from envwright.trial import Failed, Outcome, Scored
from envwright.trial.part import Cast
from envwright.work.request import Request
from envwright.work.result import SweepResult

T = TypeVar("T")
SHORT = LimitsTable(
    turns=8, wall_seconds=5, scoring_seconds=4, stall_seconds=2, memory_mb=2048, processes=64
)


@dataclass(frozen=True)
class Told:
    """What the store says of one trial."""

    outcome: Outcome | None
    attempts: Sequence[trials.AttemptRow]

    @property
    def states(self) -> list[str]:
        return [attempt.state for attempt in self.attempts]

    @property
    def scored(self) -> Scored:
        assert isinstance(self.outcome, Scored), self.outcome
        return self.outcome

    @property
    def failed(self) -> Failed:
        assert isinstance(self.outcome, Failed), self.outcome
        return self.outcome

    @property
    def findings(self) -> list[Finding]:
        grades = [grade for attempt in self.attempts for grade in attempt.grades]
        return [Finding.model_validate(raw) for grade in grades for raw in grade["findings"]]


@dataclass
class Bed:
    runner: asyncio.Runner
    app: App
    gateway: Gateway
    result: SweepResult | None = None
    """Of the last sweep."""

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def give(self, name: str, table: dict[str, Any], **variables: str) -> None:
        """Say this of the environment of that name in the file; add these variables."""
        settings = self.app.settings
        known = EnvironmentTable.model_validate(table)
        file = settings.file.model_copy(update={"environments": {name: known}})
        more = {**settings.variables, **variables}
        self.app.settings = settings.model_copy(update={"file": file, "variables": more})

    async def load(self, root: Path, **args: Any) -> Loaded:
        return await self.app.load(await self.app.resolve(str(root)), args, self.gateway)

    async def sweep(
        self,
        loaded: Loaded,
        tasks: Sequence[int],
        *,
        script: Script | None = None,
        model: Model | None = None,
        judge: Model | None = None,
        seat: str | None = None,
        seats: Mapping[str, Model] | None = None,
        budget: Budget = Budget(),  # noqa: B008
    ) -> dict[int, Told]:
        """A fresh trial on each of these tasks, all at once."""
        if script is not None:
            agent = AgentSpec(kind=AgentKind.SCRIPTED, subject="script", content=script.content)
        elif model is not None:
            agent = AgentSpec(kind=AgentKind.CHAT, subject=model.name, content=model.content)
        else:
            agent = AgentSpec(kind=AgentKind.NOOP)
        request = Request(
            agents=(agent,),
            selected=tuple(map(str, tasks)),
            fresh=True,
            args=loaded.args,
            seat=seat,
            limits=self.app.settings.file.limits.of_trial(),
            cap=budget.of_trial(),
        )
        cast = Cast(
            models={model.name: model} if model else {},
            scripts={"script": script} if script else {},
            judge=judge,
            seats=seats or {},
        )
        watch = Watch(lambda *_: None, lambda *_: None, asyncio.Event())
        store = self.app.store
        settings = self.app.settings
        file = settings.file.model_copy(update={"budget": budget})
        self.app.settings = settings.model_copy(update={"file": file})
        planned = await plan_request(self.app, request, loaded, cast)
        options = SweepOptions(runs=())
        result = await run_planned(self.app, options, [planned], self.gateway, watch)
        self.app.settings = settings
        assert not result.failures, result.failures
        self.result = result
        rows = store.read(trials.list_trials, sweep=result.sweep)
        return {row.task_index: self.told(row) for row in rows}

    def traces(self, told: Told) -> tuple[Trace, ...]:
        """Of the last attempt."""
        blob = told.attempts[-1].blob
        assert blob is not None
        return TypeAdapter(tuple[Trace, ...]).validate_json(self.app.store.blobs.get(blob))

    def told(self, row: trials.TrialRow) -> Told:
        outcome = TypeAdapter(Outcome).validate_python(row.outcome) if row.outcome else None
        return Told(outcome, self.app.store.read(trials.attempts_of, row.id))


@contextmanager
def make_bed(
    folder: Path, venvs: Path, *, limits: LimitsTable = SHORT, keys: dict[str, str] | None = None
) -> Iterator[Bed]:
    """The parts that a command would make, on a loop of their own, with short limits."""
    settings = Settings(
        home=folder / "state",
        cache=folder / "cache",
        venvs=venvs,
        file=FileTables(limits=limits),
        # What a command would have: a machine may reach its registry only with some of them.
        variables=dict(os.environ),
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        app = App(settings, sandbox="bubblewrap", say=lambda _: None)

        async def open_gateway() -> Gateway:
            gateway = Gateway(keys or {}, app.store)
            app.stack.push_async_callback(gateway.close)
            return gateway

        try:
            yield Bed(runner, app, runner.run(open_gateway()))
        finally:
            runner.run(app.__aexit__())
