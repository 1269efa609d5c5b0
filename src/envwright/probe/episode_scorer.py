"""`EpisodeScorer`: what an agent earns that says the same reply turn after turn.

Where nothing but our cap of turns ends that, a lower one does.

For environments in which a single reply is not all there is to score. Episodes share
processes; one whose process died under several of them is played again alone.
"""

import asyncio
import time
from collections.abc import Sequence

from envwright.environment import Environment, Task
from envwright.errors import Cause
from envwright.probe.host_scorer import one_line
from envwright.probe.patience import Strikes
from envwright.probe.play import Played, Stage, reply_of
from envwright.probe.scoring import Told, Tried, Try
from envwright.trial.outcome import Failed, Scored

AT_ONCE = 8
TURNS = 12
"""Of an episode that does not end by itself: the same reply again earns no more after so many."""


class EpisodeScorer:
    def __init__(self, stage: Stage, tasks: Sequence[Task]) -> None:
        self._stage = stage
        self._tasks = {task.index: task for task in tasks}
        self._told: dict[Try, Tried] = {}
        self._turns: int | None = None
        self.strikes = Strikes(stage.patience, stage.toll)

    @property
    def stopped(self) -> str | None:
        return self.strikes.stopped

    async def score(self, tries: Sequence[Try]) -> Told:
        asked = list(dict.fromkeys(tries))
        new = [each for each in asked if each not in self._told]
        for each, tried in zip(new, await self._play(new, AT_ONCE), strict=True):
            if tried is not None:
                self._told[each] = tried
        return {each: self._told[each] for each in asked if each in self._told}

    async def again(self, tries: Sequence[Try]) -> list[Tried | None]:
        return await self._play(tries, 1)

    async def _play(self, tries: Sequence[Try], at_once: int) -> list[Tried | None]:
        results: list[Tried | None] = [None] * len(tries)
        places = iter(range(len(tries)))
        begun, spent = time.monotonic(), self.strikes.spent_seconds

        async def player() -> None:
            for place in places:
                self.strikes.spent_seconds = spent + time.monotonic() - begun
                if self.stopped is not None:
                    return
                if not self.strikes.is_barred(tries[place]):
                    results[place] = await self._try(tries[place])

        # One after the other until any is survived: a process that ends has no neighbours then.
        while not self.strikes.toll.survived and self.stopped is None:
            if (place := next(places, None)) is None:
                return results
            results[place] = await self._try(tries[place])
            self.strikes.spent_seconds = spent + time.monotonic() - begun
        async with asyncio.TaskGroup() as players:
            for _ in range(min(at_once, len(tries))):
                players.create_task(player())
        return results

    async def _try(self, each: Try) -> Tried | None:
        played = await self._say(each)
        if self._turns is None and played.came_to(self._stage.loaded.limits.turns):
            # It is played again, so that all of them are scored after as many turns.
            self._turns = TURNS
            played = await self._say(each)
        if played.ended is not None and not played.charged and self.stopped is None:
            played = await self._say(each, isolated=True)
        tried, toll = tried_of(played), self.strikes.toll
        if tried.ended is None:
            toll.survived = True
        else:
            toll.charge(each, tried)
            toll.lost_seconds += played.seconds
        return tried

    async def _say(self, each: Try, *, isolated: bool = False) -> Played:
        return await self._stage.play(
            self._tasks[each.index],
            [reply_of(each.reply)],
            last_again=True,
            isolated=isolated,
            turns=self._turns,
        )


def tried_of(played: Played) -> Tried:
    if played.ended is not None:
        return Tried(None, ended=played.ended, late=played.late, seconds=played.seconds)
    outcome, seconds = played.outcome, scoring_seconds(played)
    if isinstance(outcome, Scored):
        return Tried(
            reward=outcome.reward,
            parts={name: score.score for name, score in outcome.rewards.items()},
            seconds=seconds,
            skipped=outcome.skipped,
        )
    return Tried(
        None,
        problem=one_line(played.problem or ""),
        in_episode=isinstance(outcome, Failed) and outcome.cause is not Cause.GRADER,
        seconds=seconds,
        not_numbers=played.not_numbers,
    )


def scoring_seconds(played: Played) -> float:
    """Its turns are many and others are played beside it: they are no time of the reward's."""
    return sum(trace.timing.scoring or 0.0 for trace in played.traces)


def needs_episodes(environment: Environment) -> bool:
    """Whether a reply is to be said in an episode, for scored alone it would mean little.

    A tool that nobody calls makes no difference: a reply beside tools is scored alone.
    """
    return environment.episodic


def unscorable(environment: Environment, *, judged: bool) -> str | None:
    """Why nothing can be scored here, in words; `judged` says whether a model may be asked."""
    if environment.judges and not judged:
        names = ", ".join(judge.name for judge in environment.judges)
        return f"its rewards ask a judge ({names}), and no model was given for it (--judge)"
    if environment.world and not judged:
        names = ", ".join(environment.world)
        return f"its seats {names} are played by a model, and none was given (--judge)"
    if not environment.rewards and not environment.episodic:
        return "it has no reward"
    return None
