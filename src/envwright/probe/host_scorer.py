"""`HostScorer`: replies scored in a host, many a call; whoever ends the process is named.

It expects to have the pool to itself: a death under others' calls is tried again alone.
What a reply earned is kept, so that probes that want the same are told the same.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from envwright.environment import Task
from envwright.errors import EnvwrightError
from envwright.host import CallError, HostDied, Loaded, Scoring
from envwright.host.load import read_scoring, traceback_end
from envwright.probe.evidence import TOTAL
from envwright.probe.patience import PATIENT, Patience, Strikes, Toll
from envwright.probe.scoring import Told, Tried, Try
from envwright.record import Json, mapping
from envwright.record import items as listed
from envwright.trial.grade import NO_SUM, reward_of

PER_CALL = 200
CHARACTERS_PER_CALL = 4_000_000
"""Six bytes each at most, in a frame that holds 64 MiB."""
STARTS = 2
"""How often a process may end before it is asked anything."""

Settled = dict[int, Tried]
"""What is known after a call, by place; the others are to be asked again."""


class HostScorer:
    def __init__(
        self,
        loaded: Loaded,
        tasks: Sequence[Task],
        *,
        token: str | None = None,
        patience: Patience = PATIENT,
        toll: Toll | None = None,
    ) -> None:
        self._loaded = loaded
        self._keys = {task.index: task.key for task in tasks}
        self._token = token
        self._told: dict[Try, Tried] = {}
        self._alone = False
        self._is_warm = False
        self._stillborn = 0
        self._harmless: Try | None = None
        self.strikes = Strikes(patience, toll or Toll())

    @property
    def stopped(self) -> str | None:
        return self.strikes.stopped

    async def score(self, tries: Sequence[Try]) -> Told:
        asked = list(dict.fromkeys(tries))
        new = [each for each in asked if each not in self._told]
        for each, tried in zip(new, await self.again(new), strict=True):
            if tried is not None:
                self._told[each] = tried
        return {each: self._told[each] for each in asked if each in self._told}

    async def again(self, tries: Sequence[Try]) -> list[Tried | None]:
        results: list[Tried | None] = [None] * len(tries)
        waiting = list(range(len(tries)))
        while waiting and self.stopped is None:
            waiting = [place for place in waiting if not self.strikes.is_barred(tries[place])]
            if not (places := self._next(waiting, tries)):
                break
            begun, was_warm = time.monotonic(), self._is_warm
            await self._warm_up(tries[places[0]].index)
            settled = {}
            if self.stopped is None:
                settled = await self._ask([tries[place] for place in places])
            seconds = time.monotonic() - begun
            self.strikes.spent_seconds += seconds
            if self._toll.count and not (was_warm and self._is_warm):
                self._toll.lost_seconds += seconds
            for at, tried in settled.items():
                results[places[at]] = tried
            done = {places[at] for at in settled}
            waiting = [place for place in waiting if place not in done]
        return results

    @property
    def _toll(self) -> Toll:
        return self.strikes.toll

    async def _warm_up(self, index: int) -> None:
        """Begin a process after one that ended with a reply that is known to be harmless.

        Where none is known yet, an empty one shows whether any is survived at all.
        """
        if self._is_warm or not (self._harmless or (self._toll.count and not self._toll.survived)):
            return
        harmless, self._harmless = self._harmless or Try(index, ""), None
        settled = await self._ask([harmless])
        if settled and settled[0].ended is None:
            self._harmless = harmless
        if settled:
            self._told.setdefault(harmless, settled[0])

    def _next(self, waiting: list[int], tries: Sequence[Try]) -> list[int]:
        """As many as one call takes: a single one where the process is new."""
        if not self._is_warm:
            return waiting[:1]
        characters = 0
        for count, place in enumerate(waiting[:PER_CALL]):
            characters += len(tries[place].reply)
            if characters > CHARACTERS_PER_CALL and count:
                return waiting[:count]
        return waiting[:PER_CALL]

    async def _ask(self, tries: list[Try]) -> Settled:
        patience = self.strikes.patience
        item_seconds = patience.reply_seconds if self._is_warm else patience.first_seconds
        items = [
            {"index": each.index, "key": self._keys.get(each.index), "reply": each.reply}
            for each in tries
        ]
        args: Json = {"items": items, "token": self._token}
        try:
            answers = await self._loaded.pool.call(
                "score",
                args,
                seconds=item_seconds * (len(items) + 1),
                item_seconds=item_seconds,
                isolated=self._alone,
            )
        except HostDied as died:
            self._is_warm = False
            return self._of_death(tries, died)
        except CallError as error:
            if error.at is None and len(tries) > 1:
                # Not at any of them: what they say together is more than an answer holds.
                alone = [await self._ask([each]) for each in tries]
                return {place: each[0] for place, each in enumerate(alone) if each}
            at = error.at if error.at is not None and 0 <= error.at < len(tries) else 0
            said = f"{error.type}: {error}{traceback_end(error.traceback)}"
            return {at: Tried(None, problem=said)}
        except (EnvwrightError, OSError, TimeoutError) as error:
            self.strikes.lost = f"its process does not start any more: {error}"
            return {}
        told = [tried_of(mapping(answer)) for answer in listed(answers)]
        if not self._is_warm:
            # What is read and imported once is no time of the reply's.
            told = [replace(tried, seconds=0.0, cpu_seconds=0.0) for tried in told]
            self._harmless = tries[0]
        self._is_warm, self._stillborn, self._toll.survived = True, 0, True
        if len(told) != len(tries):
            self.strikes.lost = f"it was asked for {len(tries)} scores and told {len(told)}"
            return {}
        return dict(enumerate(told))

    def _of_death(self, tries: list[Try], died: HostDied) -> Settled:
        if died.at is None or not 0 <= died.at < len(tries):
            self._stillborn += 1
            if self._stillborn >= STARTS:
                self.strikes.lost = f"its process does not start any more: {died.why}"
            return {}
        if not died.alone and not self._alone:
            self._alone = True
            return {}
        ended = f"{died.why}{traceback_end(died.tail)}"
        tried = Tried(None, ended=ended, late=died.late)
        self._toll.charge(tries[died.at], tried)
        return {died.at: tried}


def tried_of(answer: Json) -> Tried:
    return of_scoring(read_scoring(answer))


def of_scoring(scoring: Scoring) -> Tried:
    reward, problem = reward_of(scoring)
    not_numbers = {bad.signal: bad.value for bad in scoring.not_numbers}
    if problem is not None and problem.startswith(NO_SUM):
        not_numbers[TOTAL] = problem
    return Tried(
        reward=reward,
        parts={
            name: None if score is None else score.score for name, score in scoring.rewards.items()
        },
        problem=None if problem is None else one_line(problem),
        seconds=scoring.seconds,
        cpu_seconds=scoring.cpu_seconds,
        written_bytes=scoring.written_bytes,
        not_numbers=not_numbers,
        skipped=scoring.skipped,
    )


def one_line(problem: str) -> str:
    """The last line of a traceback, and where in the environment's own code that was."""
    lines = problem.strip().splitlines() or [""]
    return f"{lines[-1].strip()[:300]}{traceback_end(problem)}"
