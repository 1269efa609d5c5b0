"""`Bench`: what an environment is probed with: its processes, a scorer, a stage, and whom it
may ask meanwhile."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from envwright.environment import Environment, Kind, Task
from envwright.errors import EnvwrightError
from envwright.gateway import STRAY, Gateway, Grant
from envwright.host import CallError, HostDied, Loaded
from envwright.model import Model
from envwright.probe.case import Sample
from envwright.probe.data.own_check import Checked
from envwright.probe.episode_scorer import EpisodeScorer, needs_episodes, unscorable
from envwright.probe.forms import NO_READERS, Readers
from envwright.probe.gold import NO_REPLIES, field_of, find_gold, says
from envwright.probe.host_scorer import HostScorer
from envwright.probe.patience import PATIENT, Patience
from envwright.probe.play import Stage, measured_seat
from envwright.probe.scoring import Scorer, Try, is_same
from envwright.record import Json, items, mapping

MOST_CHECKED = 20
COMPARED = 3
IDLE = "Let me think about it."


@dataclass(slots=True)
class Bench:
    loaded: Loaded
    tasks: tuple[Task, ...]
    stage: Stage
    scorer: Scorer
    gateway: Gateway
    grant: Grant
    strays: int

    @property
    def environment(self) -> Environment:
        return self.loaded.environment

    @property
    def unscorable(self) -> str | None:
        """Why no score of this environment can be had, in words."""
        return unscorable(self.environment, judged=self.grant.environment_model is not None)

    @property
    def spoiled(self) -> str | None:
        """Why the scores so far mean nothing: somebody was asked and did not answer."""
        if self.grant.failure is not None:
            return str(self.grant.failure)
        if self.grant.unserved is not None:
            return self.grant.unserved
        return STRAY if self.gateway.strays > self.strays else None

    async def sample(
        self,
        tasks: Sequence[Task] | None = None,
        *,
        gold_field: str | None = None,
        solved: Mapping[int, str] = NO_REPLIES,
        readers: Readers = NO_READERS,
    ) -> Sample:
        """Some of the tasks, or all, with their gold; `solved` are replies that solved one
        before, by index; `readers` say what its code looks for."""
        scorer = None if self.unscorable else self.scorer
        drawn = self.tasks if tasks is None else tasks
        return await find_gold(
            *(scorer, self.environment, drawn), field=gold_field, solved=solved, readers=readers
        )

    async def is_told_alone(self, sample: Sample, readers: Readers = NO_READERS) -> bool:
        """Whether a reply that is scored by itself earns what it earns at the end of an episode,
        as far as a few of them show. Where scores differ by chance, they show nothing, and a
        judge is not asked for it."""
        if self.unscorable or self.environment.judges or not isinstance(self.scorer, HostScorer):
            return True
        cases = sample.cases[:COMPARED]
        tries = [Try(c.task.index, said) for c in cases for said in (c.said, IDLE) if said]
        # A gold that is not paid may be paid there, in one of its wordings.
        for case in [case for case in cases if case.best is not None and case.best <= 0][:1]:
            field = field_of(case.task.row, sample.gold_field)
            said = says(case.task, field, NO_REPLIES, sample.form, readers)
            tries += [Try(case.task.index, wording) for _, wording in said]
        told, again = await self.scorer.score(tries), await self.scorer.again(tries)
        played = await EpisodeScorer(self.stage, self.tasks).again(tries)
        return not any(
            alone is not None
            and anew is not None
            and in_episode is not None
            and in_episode.reward is not None
            and is_same(alone, anew)
            and not is_same(alone, in_episode)
            for alone, anew, in_episode in zip(map(told.get, tries), again, played, strict=True)
        )

    def in_episodes(self) -> "Bench":
        """The same, with every reply said in an episode."""
        return replace(self, scorer=EpisodeScorer(self.stage, self.tasks))

    async def check_golds(self, tasks: Sequence[Task]) -> list[Checked]:
        """The tasks' own word on their gold, as far as they have one. The first that ends its
        process or the time is the last that is asked."""
        found: list[Checked] = []
        if self.environment.kind is not Kind.VERIFIERS or self.unscorable:
            return found
        seconds = self.stage.patience.first_seconds
        for task in tasks[:MOST_CHECKED]:
            args: Json = {
                "items": [{"index": task.index, "key": task.key}],
                "token": self.grant.token,
                "untouched": False,
            }
            try:
                (answer,) = items(
                    await self.loaded.pool.call(
                        "validate", args, seconds=seconds, item_seconds=seconds
                    )
                )
            except (HostDied, CallError, EnvwrightError, OSError, TimeoutError, ValueError) as why:
                return [*found, Checked(task, None, f"{why}")]
            said = mapping(answer)
            if not said.get("checked"):
                return found
            found.append(read_check(task, said))
        return found

    @asynccontextmanager
    async def afresh(self, hash_seed: int) -> AsyncGenerator[tuple[Loaded, Scorer]]:
        """A scorer of the same kind in a fresh process, which has seen nothing yet."""
        async with self.loaded.afresh(hash_seed) as loaded:
            stage = stage_on(loaded, self.stage)
            if isinstance(self.scorer, EpisodeScorer):
                yield loaded, EpisodeScorer(stage, self.tasks)
            else:
                yield loaded, scorer_for(stage, self.tasks)


@asynccontextmanager
async def open_bench(
    loaded: Loaded,
    tasks: Sequence[Task],
    gateway: Gateway,
    *,
    judge: Model | None = None,
    patience: Patience = PATIENT,
) -> AsyncGenerator[Bench]:
    """`tasks` are those to be probed; `judge` is whom environment code may ask, if anyone."""
    grant = Grant(trial="", attempt=0, seat_model=None, environment_model=judge)
    measured = measured_seat(loaded.environment)
    played = tuple(seat for seat in loaded.environment.world if seat != measured)
    if judge is not None:
        grant.played = dict.fromkeys(played, judge)
    served = tuple(task for task in tasks if task.unserved is None)
    # What a reply earns is compared with what it earned before in the same process.
    loaded.pool.narrow()
    if loaded.environment.staged:
        patience = patience.with_programs()
    stage = Stage(loaded, gateway.open(grant), patience, played)
    try:
        scorer = scorer_for(stage, served)
        yield Bench(loaded, served, stage, scorer, gateway, grant, gateway.strays)
    finally:
        gateway.close_grant(grant)


def scorer_for(stage: Stage, tasks: Sequence[Task]) -> Scorer:
    if needs_episodes(stage.loaded.environment):
        return EpisodeScorer(stage, tasks)
    return HostScorer(
        stage.loaded, tasks, token=stage.token, patience=stage.patience, toll=stage.toll
    )


def read_check(task: Task, said: Json) -> Checked:
    valid = said.get("valid")
    if said.get("error") is not None:
        return Checked(task, None, str(mapping(said["error"]).get("message")))
    if valid is None or isinstance(valid, bool):
        return Checked(task, valid)
    return Checked(task, None, f"it returned {str(valid)[:100]!r}")


def stage_on(loaded: Loaded, stage: Stage) -> Stage:
    return replace(stage, loaded=loaded)
