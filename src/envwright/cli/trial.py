"""`envwright trial`: list trials, show one with its whole conversation, try one again."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import click
from pydantic import TypeAdapter
from rich.text import Text

from envwright.app import App
from envwright.app import sweep as sweeping
from envwright.cli.output import (
    cell,
    clean,
    console,
    print_json,
    print_json_line,
    say,
    short,
    table,
    usd_text,
)
from envwright.cli.shared import json_option, run_async
from envwright.errors import UsageError
from envwright.record import Json, digest, items, mapping
from envwright.settings import process_variables, read_settings
from envwright.store import Store
from envwright.store import trial as trials
from envwright.trace import EGRESS, ModelCall, Step, Trace
from envwright.trial.spec import Setting
from envwright.work.sweep import find_sweep
from envwright.work.trial import find_trial

MOST = 100
"""Of trials that are listed without a sweep."""
TRACES = TypeAdapter(tuple[Trace, ...])


@click.group()
def trial() -> None:
    """Look at trials: list, show, retry."""


def open_store() -> Store:
    settings = read_settings(process_variables(), Path.cwd())
    if settings.database_url is None and not (settings.home / "envwright.db").exists():
        raise UsageError(f"there is no store in {settings.home}", hint="run something first")
    return Store(settings.home, settings.database_url, settings.blob_url, settings.variables)


@trial.command("list")
@click.option("--sweep", help="Only those of this sweep.")
@click.option("--agent", help="Only those of this agent.")
@click.option("--outcome", type=click.Choice(["scored", "failed"]), help="Only those.")
@click.option("-n", "count", type=click.IntRange(1), help="How many; by default 100, or a sweep.")
@json_option
def list_(
    sweep: str | None, agent: str | None, outcome: str | None, count: int | None, as_json: bool
) -> None:
    """Trials, newest first; with --json one object per line."""
    store = open_store()
    if sweep is not None:
        sweep = find_sweep(store, sweep).id
    elif count is None:
        count = MOST
    rows = store.read(trials.list_trials, sweep=sweep, agent=agent, outcome=outcome, limit=count)
    if as_json:
        for row in rows:
            print_json_line(
                {
                    "id": row.id,
                    "environment": row.environment,
                    "revision": row.revision,
                    "agent": row.agent,
                    "task": {"index": row.task_index, "key": row.task_key},
                    "condition": row.condition,
                    "n": row.n,
                    "outcome": row.outcome,
                    "attempts": row.attempts,
                }
            )
        return
    columns = [("trial", False), ("environment", False), ("agent", False), ("task", True)]
    shown = table(None, [*columns, ("n", True), ("attempts", True), ("outcome", False)])
    for row in rows:
        cells = [row.id[:12], row.environment, row.agent, str(row.task_index), str(row.n)]
        shown.add_row(
            *(cell(c) for c in [*cells, str(row.attempts), short(outcome_text(row.outcome))])
        )
    console().print(shown)
    if not rows:
        say("no trial matches")
    elif len(rows) == count:
        say(f"the first {count}; more with -n")


def outcome_text(outcome: dict[str, Any] | None) -> str:
    if outcome is None:
        return "-"
    if outcome["kind"] == "scored":
        stop = "" if outcome["stop"] == "completed" else f" (stopped: {outcome['stop']})"
        return f"reward {outcome['reward']:g}{stop}"
    last = outcome["detail"].strip().splitlines()
    return f"failed ({outcome['cause']}): {last[-1] if last else ''}"


@trial.command()
@click.argument("trial_id", metavar="ID")
@click.option("--attempt", type=click.IntRange(1), help="Which attempt; by default the last.")
@json_option
def show(trial_id: str, attempt: int | None, as_json: bool) -> None:
    """One trial: its task, attempts, and the whole conversation with usage and timing."""
    store = open_store()
    show_row(store, find_trial(store, trial_id), attempt, as_json=as_json)


@trial.command()
@click.argument("trial_id", metavar="ID")
@json_option
def retry(trial_id: str, as_json: bool) -> None:
    """Queue a trial that failed once more; its earlier attempts are kept."""

    async def main(_: asyncio.Event) -> int:
        async with App.make(say=say) as app:
            name, sweep = await sweeping.retry(app, trial_id)
        if as_json:
            print_json({"trial": name, "sweep": sweep})
        else:
            click.echo(f"trial {name[:12]} is queued in sweep {sweep}")
            say("`envwright worker --drain` works on it")
        return 0

    sys.exit(run_async(main))


def show_latest(sweep: str, agent: str) -> None:
    """The first trial of an agent in a sweep, as `show` shows it."""
    store = open_store()
    rows = store.read(trials.list_trials, sweep=sweep, agent=agent, outcome="scored", limit=1)
    for row in rows:
        show_row(store, row, None, as_json=False)


def show_row(store: Store, row: trials.TrialRow, attempt: int | None, *, as_json: bool) -> None:
    attempts = store.read(trials.attempts_of, row.id)
    chosen = [a for a in attempts if attempt is None or a.n == attempt]
    if attempt is not None and not chosen:
        raise UsageError(
            f"trial {row.id[:12]} has no attempt {attempt}", hint=f"it has {len(attempts)}"
        )
    blob = chosen[-1].blob if chosen else None
    traces = TRACES.validate_json(store.blobs.get(blob)) if blob else ()
    task = store.read(trials.task_row, row.revision, digest(row.spec["args"]), row.task_index)
    if as_json:
        print_json(
            {
                "trial": row.id,
                "environment": row.environment,
                "revision": row.revision,
                "agent": row.agent,
                "condition": row.condition,
                "n": row.n,
                "setting": setting_of(row),
                "task": {"index": row.task_index, "key": row.task_key, "row": task},
                "outcome": row.outcome,
                "attempts": [
                    {
                        "n": a.n,
                        "state": a.state,
                        "started_at": a.started_at.isoformat(),
                        "ended_at": a.ended_at.isoformat() if a.ended_at else None,
                        "problem": a.problem,
                        "grades": list(a.grades),
                    }
                    for a in attempts
                ],
                "traces": [trace.model_dump(mode="json") for trace in traces],
            }
        )
        return
    for name, value in {
        "trial": row.id,
        "environment": f"{row.environment} at {row.revision[:12]}",
        "task": f"{row.task_index} (key {row.task_key[:12]})",
        "agent": row.agent,
        "setting": ", ".join(f"{n} {json.dumps(v)}" for n, v in setting_of(row).items()) or "-",
        "outcome": outcome_text(row.outcome),
        "attempts": ", ".join(f"{a.n} ({a.state})" for a in attempts) or "none",
    }.items():
        click.echo(clean(f"{name}: {value}"))
    for position, trace in enumerate(traces):
        same = [n for n, other in enumerate(traces) if other.seat == trace.seat]
        nth = f", try {same.index(position) + 1} of {len(same)}" if len(same) > 1 else ""
        show_trace(trace, nth)
    if row.outcome and row.outcome["kind"] == "failed":
        click.echo(clean(f"\nwhy it failed ({row.outcome['cause']}):\n{row.outcome['detail']}"))
    for grade in chosen[-1].grades if chosen else ():
        for finding in grade["findings"]:
            click.echo(clean(f"finding {finding['rule']}: {finding['statement']}"))


def setting_of(row: trials.TrialRow) -> dict[str, Any]:
    """What the trial was run with, where it is not what every trial is run with."""
    said = Setting.model_validate({n: v for n, v in row.spec.items() if n in Setting.model_fields})
    return said.model_dump(mode="json", exclude_defaults=True)


def show_trace(trace: Trace, nth: str) -> None:
    out = console()
    measured = "measured" if trace.measured else "not measured"
    out.print(
        Text(
            f"\nseat {clean(trace.seat)} ({measured}{nth}), stop: {clean(trace.stop or '-')}",
            style="bold",
        )
    )
    for number, step in enumerate(trace.steps):
        show_step(number, step)
    for problem in trace.problems:
        click.echo(clean(f"problem: {problem.type}: {problem.message}"))
    for number, call in enumerate(trace.calls):
        click.echo(clean(f"call {number}: {call_text(call)}"))
    signals = [
        f"{n}={'no value' if s is None else f'{s.score:g}×{s.weight:g}'}"
        for n, s in trace.rewards.items()
    ]
    signals += [f"{n}={'no value' if v is None else f'{v:g}'}" for n, v in trace.metrics.items()]
    if signals:
        click.echo(clean(f"signals: {', '.join(signals)}"))
    for each in items(trace.info.get(EGRESS)):
        click.echo(clean(f"egress while it ran: {egress_text(mapping(each))}"))
    if trace.skipped:
        click.echo(clean(f"did not run: {', '.join(trace.skipped)}"))
    spans = {n: s for n, s in trace.timing.model_dump().items() if s is not None}
    if spans:
        click.echo(
            "timing: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in spans.items())
        )


def egress_text(traffic: Json) -> str:
    place = f"{traffic.get('host')}:{traffic.get('port')}"
    moved = f"{traffic.get('sent_bytes')} bytes out, {traffic.get('received_bytes')} in"
    return f"{place} {traffic.get('verdict')}, {traffic.get('connections')} times, {moved}"


def show_step(number: int, step: Step) -> None:
    out = console()
    name = f" {clean(step.name)}" if step.name else ""
    out.print(Text(f"[{number}] {step.role}{name}", style="bold"))
    if step.reasoning:
        out.print(Text(clean(step.reasoning), style="dim"))
    if step.content:
        out.print(Text(clean(step.content)))
    for call in step.tool_calls:
        out.print(Text(clean(f"→ {call.name}({call.arguments})")))


def call_text(call: ModelCall) -> str:
    usage = "usage unknown"
    if call.usage is not None:
        usage = f"{call.usage.input_tokens} in, {call.usage.output_tokens} out"
    parts = [
        f"{call.seat} → {call.model}",
        f"{call.seconds:.2f} s",
        usage,
        f"cost {usd_text(call.cost_usd)}",
    ]
    if call.tries > 1:
        parts.append(f"{call.tries} tries")
    if call.finish_reason:
        parts.append(call.finish_reason)
    if call.error:
        parts.append(f"error: {call.error}")
    return ", ".join(parts)
