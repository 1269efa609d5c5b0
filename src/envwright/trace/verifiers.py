"""Reads verifiers' episode records: each seat's trace as ours, and what the record says of itself.

The record comes from a process that environment code shares: it is read defensively,
and a reward that is no number is reported as what it was, never as a number.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from envwright.record import Json, items, mapping
from envwright.trace.trace import (
    ModelCall,
    Problem,
    Role,
    Score,
    Step,
    Timing,
    ToolCall,
    Trace,
    Usage,
)

LONGEST_TEXT = 10_000_000
UNSET: Json = {
    "skills": [],
    "network_allow": ["*"],
    "network_block": [],
    "artifacts": [],
    "artifact_max_bytes": 33554432,
    "timeout": {},
    "resources": {},
}
"""What verifiers adds to every row of a record while a task does not set it."""


@dataclass(frozen=True, slots=True)
class NotANumber:
    """A signal that returned NaN, infinity or something else that is no number."""

    signal: str
    value: str


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode as it was recorded, not yet judged."""

    traces: tuple[Trace, ...]
    ok: bool
    problems: tuple[Problem, ...]
    not_numbers: tuple[NotANumber, ...]
    """Of the measured seat."""

    @property
    def measured(self) -> tuple[Trace, ...]:
        """Every run of the measured seat; several where its Env lets it try again."""
        return tuple(trace for trace in self.traces if trace.measured)


def read_episode(record: Json, calls: list[ModelCall], seat: str | None) -> EpisodeRecord:
    """The episode's traces with the gateway's calls; `seat` is the measured one if set."""
    raw_traces = [cast("Json", raw) for raw in items(record.get("traces")) if is_json(raw)]
    measured = pick_measured(raw_traces, seat)
    first = next((i for i, raw in enumerate(raw_traces) if seat_of(raw) == measured), 0)
    not_numbers: list[NotANumber] = []
    traces: list[Trace] = []
    for position, raw in enumerate(raw_traces):
        name = seat_of(raw)
        bad: list[NotANumber] = []
        # One trace per run of a seat: the calls of a seat that ran twice stay with its first.
        own = calls if position == first_of(raw_traces, name) else []
        traces.append(read_trace(raw, [c for c in own if c.seat == name], name == measured, bad))
        if name == measured:
            not_numbers += bad
    environment = [call for call in calls if call.seat not in {seat_of(raw) for raw in raw_traces}]
    if environment and traces:
        merged = (*traces[first].calls, *environment)
        traces[first] = traces[first].model_copy(update={"calls": merged})
    return EpisodeRecord(
        traces=tuple(traces),
        ok=bool(record.get("ok")),
        problems=tuple(read_problem(raw) for raw in items(record.get("errors"))),
        not_numbers=tuple(not_numbers),
    )


def read_recorded(record: Json) -> EpisodeRecord:
    """An episode that ran elsewhere: its calls are what the record itself says of them."""
    episode = read_episode(record, [], None)
    raw_traces = [raw for raw in items(record.get("traces")) if is_json(raw)]
    traces = tuple(
        trace.model_copy(update={"calls": tuple(read_calls(mapping(raw)))})
        for trace, raw in zip(episode.traces, raw_traces, strict=True)
    )
    return replace(episode, traces=traces)


def read_calls(raw: Json) -> Iterator[ModelCall]:
    for call in map(mapping, items(raw.get("calls"))):
        span, error = mapping(call.get("time")), mapping(call.get("error"))
        start, end = finite(span.get("start")), finite(span.get("end"))
        status = error.get("status_code", None if error else 200)
        yield ModelCall(
            seat=seat_of(raw),
            model=str(call.get("model") or "unknown"),
            started_at=moment(start) or datetime.fromtimestamp(0, UTC),
            seconds=max(0.0, end - start) if start and end else 0.0,
            status=status if is_count(status) else None,
            finish_reason=text_or_none(call.get("finish_reason")),
            usage=read_usage(mapping(call.get("usage"))),
            error=str(error.get("message", "failed"))[:2000] if error else None,
        )


def read_usage(raw: Json) -> Usage | None:
    """verifiers counts cache reads apart from the prompt; here they are part of the input."""
    names = ("prompt_tokens", "completion_tokens", "cached_input_tokens", "reasoning_tokens")
    counts = [raw.get(name) or 0 for name in names]
    if raw.get("prompt_tokens") is None or not all(is_count(each) for each in counts):
        return None
    prompt, completion, cached, reasoning = counts
    return Usage(
        input_tokens=prompt + cached,
        output_tokens=completion,
        cached_tokens=cached,
        reasoning_tokens=reasoning,
    )


def is_count(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < 2**30


def moment(seconds: float | None) -> datetime | None:
    """A time that a record tells; None when it is none."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def read_row(data: Json) -> Json:
    """A task's row as the host tells it: without what is unset."""
    return {
        name: value
        for name, value in data.items()
        if value is not None and not (name in UNSET and value == UNSET[name])
    }


def pick_measured(traces: list[Json], seat: str | None) -> str | None:
    """The measured seat; where nobody named it, the first by name of those that are trained."""
    trained = [raw for raw in traces if mapping(raw.get("agent")).get("trainable", True)]
    return seat if seat is not None else min(map(seat_of, trained), default=None)


def first_of(traces: list[Json], name: str) -> int:
    return next(i for i, raw in enumerate(traces) if seat_of(raw) == name)


def seat_of(raw: Json) -> str:
    return str(mapping(raw.get("agent")).get("name") or "agent")


def read_trace(raw: Json, calls: list[ModelCall], measured: bool, bad: list[NotANumber]) -> Trace:
    rewards = {
        name: read_score(name, value, bad) for name, value in mapping(raw.get("rewards")).items()
    }
    metrics = {
        name: read_number(name, value, bad) for name, value in mapping(raw.get("metrics")).items()
    }
    return Trace(
        seat=seat_of(raw),
        measured=measured,
        steps=tuple(read_step(node) for node in items(raw.get("nodes"))),
        calls=tuple(calls),
        tools=tuple(cast("Json", tool) for tool in items(raw.get("tools")) if is_json(tool)),
        rewards=rewards,
        metrics=metrics,
        skipped=tuple(str(name) for name in items(raw.get("skipped"))),
        stop=text_or_none(raw.get("stop_condition")),
        problems=tuple(read_problem(error) for error in items(raw.get("errors"))),
        timing=read_timing(mapping(raw.get("timing"))),
        info=mapping(raw.get("info")),
    )


def read_step(node: Any) -> Step:
    message = mapping(mapping(node).get("message"))
    role = message.get("role")
    return Step(
        role=Role(role) if role in set(Role) else Role.USER,
        content=content_text(message.get("content")),
        reasoning=text_or_none(message.get("reasoning_content")),
        tool_calls=tuple(
            ToolCall(
                id=str(call.get("id", "")),
                name=str(call.get("name", "")),
                arguments=str(call.get("arguments", "")),
            )
            for call in map(mapping, items(message.get("tool_calls")))
        ),
        tool_call_id=text_or_none(message.get("tool_call_id")),
        name=text_or_none(message.get("name")),
        sampled=bool(mapping(node).get("sampled")),
    )


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return shortened(content)
    parts = [str(mapping(part).get("text", "[image]")) for part in items(content)]
    return shortened("\n".join(parts))


def shortened(text: str) -> str:
    """The text, or as much as is kept of it and how much is not."""
    cut = len(text) - LONGEST_TEXT
    return text if cut <= 0 else f"{text[:LONGEST_TEXT]}\n[{cut} more characters were not kept]"


def read_score(name: str, value: Any, bad: list[NotANumber]) -> Score | None:
    if value is None:
        return None
    raw = mapping(value)
    score = read_number(name, raw.get("score"), bad)
    weight = read_number(f"{name} (weight)", raw.get("weight", 1.0), bad)
    return None if score is None or weight is None else Score(score=score, weight=weight)


def read_number(name: str, value: Any, bad: list[NotANumber]) -> float | None:
    if value is None:
        return None
    if (number := finite(value)) is None:
        bad.append(NotANumber(signal=name, value=repr_of(value)[:200]))
    return number


def finite(value: Any) -> float | None:
    """A foreign value as a number; None when it is none that a float holds."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def repr_of(value: Any) -> str:
    try:
        return str(value)
    except ValueError:
        # Python spells no integer of thousands of digits.
        return "an integer too long to spell"


def read_problem(raw: Any) -> Problem:
    error = mapping(raw)
    status = error.get("status_code")
    return Problem(
        type=str(error.get("type", "Error")),
        message=str(error.get("message", ""))[:20_000],
        status=status if isinstance(status, int) else None,
        traceback=text_or_none(error.get("traceback")),
    )


def read_timing(timing: Json) -> Timing:
    def seconds(name: str) -> float | None:
        span = mapping(timing.get(name))
        start, end = finite(span.get("start")), finite(span.get("end"))
        return max(0.0, end - start) if start and end else None

    model = mapping(mapping(timing.get("agent")).get("model")).get("duration")
    return Timing(
        boot=seconds("boot"),
        setup=seconds("setup"),
        agent=seconds("agent"),
        model=finite(model),
        finalize=seconds("finalize"),
        scoring=seconds("scoring"),
    )


def is_json(value: Any) -> bool:
    return isinstance(value, dict)


def text_or_none(value: Any) -> str | None:
    return str(value)[:LONGEST_TEXT] if value is not None else None
