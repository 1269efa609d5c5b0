"""`play`: one episode by a script, and all that was seen of it. Nothing it does escapes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from envwright.environment import Environment, Task
from envwright.errors import Cause, EnvwrightError
from envwright.host import CallError, HostDied, Loaded
from envwright.host.load import traceback_end
from envwright.probe.patience import Patience, Toll
from envwright.record import Json, mapping
from envwright.trace import Trace
from envwright.trace.verifiers import EpisodeRecord, read_episode
from envwright.trial.grade import judge_episode
from envwright.trial.outcome import Failed, Outcome, Scored

GRACE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Played:
    outcome: Outcome | None
    """None when the process ended."""
    traces: tuple[Trace, ...] = ()
    not_numbers: dict[str, str] = field(default_factory=dict[str, str])
    ended: str | None = None
    late: bool = False
    charged: bool = False
    """Whether the process ended of it, rather than of a neighbour."""
    seconds: float = 0.0

    @property
    def measured(self) -> Trace | None:
        return next((trace for trace in self.traces if trace.measured), None)

    def came_to(self, cap: int) -> bool:
        """Whether our cap ended it; one of the environment's own would have done so before."""
        trace = self.measured
        if trace is None or trace.stop != "max_turns":
            return False
        return sum(step.sampled for step in trace.steps) >= cap

    @property
    def reward(self) -> float | None:
        return self.outcome.reward if isinstance(self.outcome, Scored) else None

    @property
    def problem(self) -> str | None:
        return self.outcome.detail if isinstance(self.outcome, Failed) else None


def reply_of(content: str | None, *calls: Json) -> Json:
    """A reply of a script; `calls` are `{name, arguments}`."""
    return {"content": content, "tool_calls": list(calls)}


@dataclass(frozen=True, slots=True)
class Stage:
    """Where episodes are played."""

    loaded: Loaded
    token: str
    """Whom the environment's own judges and seats may ask."""
    patience: Patience
    played: tuple[str, ...] = ()
    """Seats that a model plays."""
    toll: Toll = field(default_factory=Toll)

    @property
    def seat(self) -> str | None:
        return measured_seat(self.loaded.environment)

    async def play(
        self,
        task: Task,
        replies: Sequence[Json],
        *,
        last_again: bool = False,
        isolated: bool = False,
        turns: int | None = None,
    ) -> Played:
        """`turns` is a cap below ours, which hosts of verifiers 0.1 keep to."""
        patience, begun = self.patience, time.monotonic()
        args: Json = {
            "index": task.index,
            "key": task.key,
            "agent": {"kind": "scripted", "replies": list(replies), "last_again": last_again},
            "token": self.token,
            "played": list(self.played),
            "sampling": {},
            "limits": {
                "wall_seconds": patience.episode_seconds,
                "scoring_seconds": patience.reply_seconds,
                **({} if turns is None else {"turns": turns}),
            },
        }
        held = {
            **dict.fromkeys(("setup", "agent"), patience.episode_seconds),
            **dict.fromkeys(("finalize", "scoring"), patience.reply_seconds),
        }
        try:
            record = await self.loaded.pool.call(
                "run",
                args,
                seconds=patience.episode_seconds + 2 * patience.reply_seconds + GRACE_SECONDS,
                patience=held,
                isolated=isolated,
            )
        except HostDied as died:
            ended = f"{died.why}{traceback_end(died.tail)}"
            charged = died.alone and died.phase is not None
            seconds = time.monotonic() - begun
            return Played(None, ended=ended, late=died.late, charged=charged, seconds=seconds)
        except (CallError, EnvwrightError, OSError, TimeoutError) as error:
            return Played(failed(str(error)), seconds=time.monotonic() - begun)
        episode = read_episode(mapping(record), [], self.seat)
        return of_episode(episode, time.monotonic() - begun)


def of_episode(episode: EpisodeRecord, seconds: float) -> Played:
    return Played(
        outcome=judge_episode(episode, None),
        traces=episode.traces,
        not_numbers={bad.signal: bad.value for bad in episode.not_numbers},
        seconds=seconds,
    )


def failed(detail: str) -> Failed:
    return Failed(cause=Cause.ENVIRONMENT, detail=detail)


def measured_seat(environment: Environment) -> str | None:
    """The one whose reward counts: the first that is a player."""
    players = [seat for seat in environment.seats if seat not in environment.world]
    return next(iter(players or environment.seats), None)
