"""`envwright env`: inspect an environment, prepare it, list its tasks, score replies."""

import asyncio
import json
import math
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
)
from envwright.cli.progress import follow
from envwright.cli.shared import environment_options, json_option, parse_args, run_async, until
from envwright.errors import UsageError
from envwright.host import Loaded, Scoring
from envwright.trial.grade import total_reward
from envwright.work.score import Pair, score_pairs

TASKS_SHOWN = 20


@click.group()
def env() -> None:
    """Look at an environment: inspect, tasks, score, prepare."""


@asynccontextmanager
async def loaded_environment(
    text: str, venv: Path | None, args: tuple[str, ...], sandbox: str, stop: asyncio.Event
) -> AsyncGenerator[Loaded]:
    async with App.make(sandbox=sandbox, say=say, follow=follow) as app:
        own = app.own_venv(venv)
        source = await until(stop, app.resolve(text, own))
        given = app.arguments(source, parse_args(args))
        yield await until(stop, app.load(source, given, app.gateway(), own))


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
        count = "endless" if described.tasks.infinite else described.tasks.count
        lines = {
            "kind": described.kind,
            "name": described.name,
            "revision": described.revision[:12],
            "tasks": count,
            "rewards": ", ".join(
                f"{r.name} (weight {r.weight:g}{', of a group' if r.group else ''})"
                for r in described.rewards
            ),
            "metrics": ", ".join(described.metrics),
            "tools": ", ".join(described.tools),
            "seats": ", ".join(described.seats),
            "args": ", ".join(f"{a.name}: {a.type} = {a.default!r}" for a in described.args),
        }
        for name, value in lines.items():
            click.echo(clean(f"{name}: {value if value not in ('', None) else '-'}"))

    run_async(main)


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
@environment_options
@json_option
def score(
    environment: str,
    task: str | None,
    reply: str | None,
    replies: Path | None,
    args: tuple[str, ...],
    venv: Path | None,
    sandbox: str,
    as_json: bool,
) -> None:
    """Score replies with ENVIRONMENT's own rewards, without a model."""
    pairs = read_pairs(task, reply, replies)

    async def main(stop: asyncio.Event) -> int:
        async with loaded_environment(environment, venv, args, sandbox, stop) as loaded:
            scored = await until(stop, score_pairs(loaded, pairs))
        broken = 0
        for (name, _), each in zip(pairs, scored, strict=True):
            broken += print_scoring(name, each, as_json=as_json)
        return 1 if broken else 0

    sys.exit(run_async(main))


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
    problem = each.problem
    if each.not_numbers:
        problem = ", ".join(f"{bad.signal} returned {bad.value}" for bad in each.not_numbers)
    elif not problem and len(rewards) < len(each.rewards):
        problem = "some rewards did not run"
    reward = None if problem or not rewards else total_reward(rewards)
    if reward is not None and not math.isfinite(reward):
        problem, reward = f"the weighted sum of the rewards is {reward}", None
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
