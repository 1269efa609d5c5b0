"""Trials that ran elsewhere: a verifiers episode record as task, attempt and grade. Pure.

There is no source at hand, so the revision is the digest of what the record says of its
environment and of verifiers; its name says that it was imported. The task's key is the
one that the environment itself would give. Which repetition it is, the store counts.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue, ValidationError

from envwright.agent import AgentKind, AgentSpec
from envwright.environment import Kind
from envwright.finding import Finding
from envwright.record import Json, digest, items, mapping
from envwright.trace import Trace
from envwright.trace.verifiers import (
    EpisodeRecord,
    finite,
    is_count,
    moment,
    read_recorded,
    read_row,
)
from envwright.trial.grade import ELSEWHERE_CAUSES, findings_of, judge_episode
from envwright.trial.outcome import Outcome
from envwright.trial.spec import Sampling

NOT_ARGUMENTS = {"id", "task", "system_prompt"}
KIND = Kind.VERIFIERS


class NoEpisode(Exception):
    """A record that is none of an episode; says why."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What a folder's own configuration adds to each of its records."""

    model: str | None = None
    args: Json | None = None

    @classmethod
    def read(cls, raw: Json) -> "RunConfig":
        taskset = mapping(mapping(raw.get("env")).get("taskset"))
        args = {name: value for name, value in taskset.items() if name not in NOT_ARGUMENTS}
        model = raw.get("model")
        return cls(model if isinstance(model, str) else None, args)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One episode, ready to be kept; its repetition is not counted yet."""

    identity: str
    """The same episode has the same one, in whatever file it is."""
    environment: str
    revision: str
    args: dict[str, JsonValue]
    index: int | None
    key: str
    row: Json
    agent: AgentSpec
    sampling: Sampling
    traces: tuple[Trace, ...]
    outcome: Outcome
    findings: tuple[Finding, ...]
    started_at: datetime
    ended_at: datetime


def read_recorded_trial(record: Any, config: RunConfig, build: Json, now: datetime) -> Recorded:
    """`build` is what the file says of verifiers, for a record that left no trace to say it."""
    raw = mapping(record)
    task = mapping(raw.get("task"))
    data, env = mapping(task.get("data")), mapping(raw.get("env"))
    if not data or not isinstance(raw.get("traces"), list):
        raise NoEpisode("no episode: it has no task or no traces")
    row = read_row(data)
    try:
        key = digest({name: value for name, value in row.items() if name != "idx"})
    except ValueError as error:
        raise NoEpisode("its task holds NaN or infinity") from error
    episode = read_recorded(raw)
    name = str(env.get("id") or "unknown")
    config_of_seat = seat_config(raw, episode)
    model = config_of_seat.get("model") or config.model or "unknown"
    harness = mapping(config_of_seat.get("harness")).get("id")
    origin: Json = {
        "from": str(KIND),
        "harness": harness,
        "runtime": mapping(config_of_seat.get("runtime")).get("type"),
        "run": mapping(raw.get("run")).get("name"),
        "episode": raw.get("id"),
    }
    content = {"imported": origin["from"], "harness": harness, "runtime": origin["runtime"]}
    started_at, ended_at = times_of(raw, now)
    index = data.get("idx")
    return Recorded(
        identity=identity_of(raw),
        environment=f"{name} (imported)",
        revision=digest({"imported": str(KIND), "env": name, "verifiers": build_of(raw) or build}),
        args=config.args or {},
        index=index if is_count(index) else None,
        key=key,
        row=row,
        agent=AgentSpec(kind=AgentKind.CHAT, subject=str(model), content=digest(content)),
        sampling=sampling_of(config_of_seat),
        traces=tuple(
            trace.model_copy(update={"info": {**trace.info, "imported": origin}})
            for trace in episode.traces
        ),
        outcome=judge_episode(episode, None, causes=ELSEWHERE_CAUSES),
        findings=findings_of(episode, key, f"envwright trial list --agent chat:{model}"),
        started_at=started_at,
        ended_at=ended_at,
    )


def identity_of(raw: Json) -> str:
    """The episode's own id; where it has none, its content."""
    own = raw.get("id")
    return digest(own if isinstance(own, str) and own else repr(raw))


def build_of(raw: Json) -> Json:
    """What a record says of the verifiers that ran it; empty when it says nothing."""
    for trace in items(raw.get("traces")):
        said = mapping(mapping(trace).get("verifiers"))
        if said:
            return {name: str(said[name]) for name in ("version", "commit") if said.get(name)}
    return {}


def seat_config(raw: Json, episode: EpisodeRecord) -> Json:
    """The configuration of the measured seat, or of the first."""
    raw_traces = [mapping(each) for each in items(raw.get("traces")) if isinstance(each, dict)]
    at = next((i for i, trace in enumerate(episode.traces) if trace.measured), 0)
    agents = [mapping(each.get("agent")) for each in raw_traces]
    return mapping(agents[at].get("config")) if agents else {}


def sampling_of(config: Json) -> Sampling:
    said = mapping(config.get("sampling"))
    try:
        return Sampling.model_validate(
            {name: said[name] for name in Sampling.model_fields if said.get(name) is not None}
        )
    except ValidationError:
        return Sampling()


def times_of(raw: Json, now: datetime) -> tuple[datetime, datetime]:
    timings = [mapping(mapping(trace).get("timing")) for trace in items(raw.get("traces"))]
    starts = [finite(timing.get("start")) for timing in timings]
    ends = [finite(mapping(s).get("end")) for timing in timings for s in timing.values()]
    started = moment(min(filter(None, starts), default=None)) or now
    return started, max(started, moment(max(filter(None, ends), default=None)) or started)
