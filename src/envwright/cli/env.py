"""`envwright env`: inspect, prepare and validate an environment, list its tasks, score replies."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from envwright.app import App
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
from envwright.cli.progress import follow
from envwright.cli.shared import (
    environment_options,
    json_option,
    judge_option,
    parse_args,
    run_async,
    until,
)
from envwright.environment import Signal
from envwright.errors import UsageError
from envwright.host import Loaded, Scoring
from envwright.trial.grade import reward_of
from envwright.work.grader import Grader
from envwright.work.score import Pair, score_pairs
from envwright.work.validate import Validation, validate_tasks

TASKS_SHOWN = 20


@click.group()
def env() -> None:
    """Look at an environment: inspect, tasks, score, validate, prepare."""


@asynccontextmanager
async def loaded_environment(
    text: str, venv: Path | None, args: tuple[str, ...], sandbox: str, stop: asyncio.Event
) -> AsyncGenerator[Loaded]:
    async with App.make(sandbox=sandbox, say=say, follow=follow) as app:
        own = app.own_venv(venv)
        source = await until(stop, app.resolve(text, own))
        given = app.arguments(source, parse_args(args))
        yield await until(stop, app.load(source, given, app.gateway(), own))


@asynccontextmanager
async def graded_environment(
    text: str,
    venv: Path | None,
    args: tuple[str, ...],
    sandbox: str,
    judge: str | None,
    stop: asyncio.Event,
) -> AsyncGenerator[tuple[Loaded, Grader]]:
    """The environment, and whom its rewards may ask."""
    async with App.make(sandbox=sandbox, say=say, follow=follow) as app:
        own = app.own_venv(venv)
        source = await until(stop, app.resolve(text, own))
        given = app.arguments(source, parse_args(args))
        model = await until(stop, app.judge(judge))
        gateway = app.gateway([model] if model else [])
        grader = Grader(gateway, model)
        yield await until(stop, app.load(source, given, gateway, own)), grader
        if grader.calls:
            cost = usd_text(grader.spent.cost_usd)
            say(
                f"the judge spent {grader.spent.tokens} tokens in {grader.calls} calls, cost {cost}"
            )


@env.command()
@click.argument("environment")
@environment_options
@json_option
def inspect(
    environment: str, args: tuple[str, ...], venv: Path | None, sandbox: str, as_json: bool
) -> None:
    """What ENVIRONMENT is: tasks, rewards, metrics, tools, seats, arguments."""

    async def main(stop: asyncio.Event) -> None:
        async with loaded_environment(environment, venv, args, sandbox, stop) as loaded:
            described = loaded.environment
        if as_json:
            print_json(described)
            return
        count = "endless" if described.tasks.infinite else str(described.tasks.count)
        if described.tasks.said_infinite:
            count += " (it sets INFINITE = True, and ends)"
        lines = {
            "kind": described.kind,
            "name": described.name,
            "revision": described.revision[:12],
            "tasks": count,
            "rewards": ", ".join(map(reward_text, described.rewards)),
            "metrics": ", ".join(described.metrics),
            "tools": ", ".join(described.tools),
            "seats": ", ".join(
                f"{seat} (not a player)" if seat in described.world else seat
                for seat in described.seats
            ),
            "judges": ", ".join(f"{j.name} (asks for {j.model})" for j in described.judges),
        }
        for name, value in lines.items():
            click.echo(clean(f"{name}: {value if value not in ('', None) else '-'}"))
        click.echo("args:" if described.args else "args: -")
        for each in described.args:
            click.echo(clean(f"  {each.name}: {each.type} = {short(repr(each.default))}"))

    run_async(main)


def reward_text(reward: Signal) -> str:
    group = ", of a group" if reward.group else ""
    runtime = ", needs a runtime" if reward.runtime else ""
    return f"{reward.name} (weight {reward.weight:g}{group}{runtime})"


@env.command()
@click.argument("environment")
@environment_options
def prepare(environment: str, args: tuple[str, ...], venv: Path | None, sandbox: str) -> None:
    """Fill the cache of ENVIRONMENT again; the first load does it by itself."""

    async def main(stop: asyncio.Event) -> None:
        async with App.make(sandbox=sandbox, say=say, follow=follow) as app:
            own = app.own_venv(venv)
            source = await until(stop, app.resolve(environment, own))
            given = app.arguments(source, parse_args(args))
            gateway = app.gateway()
            if app.permit(source, gateway).prepare is None:
                raise UsageError(
                    f"environment {source.name!r} has no egress to be prepared with",
                    hint=f'give [environments."{source.name}"] a prepare in envwright.toml',
                )
            await until(stop, app.load(source, given, gateway, own, again=True))

    run_async(main)


@env.command()
@click.argument("environment")
@click.option(
    "-n", "count", type=click.IntRange(1), help="How many; by default 20, with --json all."
)
@environment_options
@json_option
def tasks(
    environment: str,
    count: int | None,
    args: tuple[str, ...],
    venv: Path | None,
    sandbox: str,
    as_json: bool,
) -> None:
    """The tasks of ENVIRONMENT; with --json one object per line."""

    async def main(stop: asyncio.Event) -> None:
        async with loaded_environment(environment, venv, args, sandbox, stop) as loaded:
            total = loaded.environment.tasks.count
            if total is None and count is None and as_json:
                name = loaded.environment.name
                raise UsageError(
                    f"environment {name!r} has endless tasks", hint="say how many with -n"
                )
            wanted = count or (total if as_json and total is not None else TASKS_SHOWN)
            found = await until(stop, loaded.tasks(0, wanted))
        if as_json:
            for task in found:
                print_json_line(task)
            return
        shown = table(None, [("index", True), ("key", False), ("prompt", False)])
        for task in found:
            shown.add_row(str(task.index), task.key[:12], cell(short(task.prompt, 90)))
        console().print(shown)
        say(f"{len(found)} of {'endless' if total is None else total} tasks")

    run_async(main)


@env.command()
@click.argument("environment")
@click.option("--task", help="Which task: its index, or the beginning of its key.")
@click.option("--reply", help="The reply to score: text, @FILE, or - for standard input.")
@click.option(
    "--replies",
    type=click.Path(dir_okay=False, path_type=Path),
    help='Many replies: JSON lines of {"task": INDEX or KEY, "reply": TEXT}.',
)
@judge_option
@environment_options
@json_option
def score(
    environment: str,
    task: str | None,
    reply: str | None,
    replies: Path | None,
    judge: str | None,
    args: tuple[str, ...],
    venv: Path | None,
    sandbox: str,
    as_json: bool,
) -> None:
    """Score replies with ENVIRONMENT's own rewards; no model is asked but its judges."""
    pairs = read_pairs(task, reply, replies)

    async def main(stop: asyncio.Event) -> int:
        async with graded_environment(environment, venv, args, sandbox, judge, stop) as graded:
            loaded, grader = graded
            scored = await until(stop, score_pairs(loaded, pairs, grader))
        broken = 0
        for (name, _), each in zip(pairs, scored, strict=True):
            broken += print_scoring(name, each, as_json=as_json)
        return 1 if broken else 0

    sys.exit(run_async(main))


@env.command()
@click.argument("environment")
@click.option("-n", "count", type=click.IntRange(1), help="How many tasks; by default all.")
@judge_option
@environment_options
@json_option
def validate(
    environment: str,
    count: int | None,
    judge: str | None,
    args: tuple[str, ...],
    venv: Path | None,
    sandbox: str,
    as_json: bool,
) -> None:
    """Each task's own check of its gold, and its reward when nobody did anything."""

    async def main(stop: asyncio.Event) -> int:
        async with graded_environment(environment, venv, args, sandbox, judge, stop) as graded:
            loaded, grader = graded
            checked = await until(stop, validate_tasks(loaded, count, grader))
        if as_json:
            print_json(checked)
        else:
            print_validation(checked)
        return 0 if checked.sound else 1

    sys.exit(run_async(main))


def print_validation(checked: Validation) -> None:
    for task in checked.tasks:
        for problem in task.problems:
            click.echo(clean(f"task {task.index}: {problem}"))
    told = checked.counts
    click.echo(
        f"gold: {told.valid} valid, {told.invalid} invalid, {told.raised} raised, "
        f"{told.unchecked} unchecked of {len(checked.tasks)}"
    )
    click.echo(f"untouched: {told.solved} solved of {told.scored} scored")
    if checked.skipped:
        click.echo(clean(f"skipped: {', '.join(checked.skipped)}"))


def read_pairs(task: str | None, reply: str | None, replies: Path | None) -> list[Pair]:
    if replies is not None:
        if task is not None or reply is not None:
            raise UsageError("--replies stands alone", hint="leave out --task and --reply")
        return read_replies(replies)
    if task is None or reply is None:
        raise UsageError("which reply to which task?", hint="give --task and --reply, or --replies")
    return [(task, read_text(reply))]


def read_text(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"--reply {text!r} cannot be read: {error}", hint="check the path"
            ) from error
    return text


def read_replies(path: Path) -> list[Pair]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--replies {str(path)!r} cannot be read: {error}", hint="check the path"
        ) from error
    pairs: list[Pair] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            pairs.append((str(row["task"]), str(row["reply"])))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{path}:{number}: not a reply", hint='{"task": INDEX or KEY, "reply": TEXT}'
            ) from error
    if not pairs:
        raise UsageError(f"{path} holds no reply", hint='{"task": INDEX or KEY, "reply": TEXT}')
    return pairs


def print_scoring(name: str, each: Scoring, *, as_json: bool) -> bool:
    """Print one result; True when it has no reward."""
    rewards = {signal: score for signal, score in each.rewards.items() if score is not None}
    reward, problem = reward_of(each)
    if as_json:
        body: dict[str, object] = {
            "reward": reward,
            "rewards": {s: score.model_dump() for s, score in rewards.items()},
            "metrics": each.metrics,
            "skipped": list(each.skipped),
        }
        print_json_line({**body, "error": problem} if problem else body)
    else:
        parts = [f"{signal}={score.score:g}×{score.weight:g}" for signal, score in rewards.items()]
        parts += [
            f"{metric}={value:g}" for metric, value in each.metrics.items() if value is not None
        ]
        parts += [f"skipped: {', '.join(each.skipped)}"] if each.skipped else []
        said = "none" if reward is None else f"{reward:g}"
        click.echo(clean(f"task {name}: reward {said}  {'  '.join(parts)}".rstrip()))
        if problem:
            say(f"task {name}: {problem}")
    return reward is None
