"""The options that say which trials to run: those of every command that takes a sweep."""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from envwright.budget import Budget
from envwright.cli.shared import environment_options, judge_option, parse_args, parse_pairs
from envwright.options import LOWEST_PRIORITY, Flags, SweepOptions
from envwright.settings import process_variables, read_settings
from envwright.sweep_file import read_sweep
from envwright.trial import Sampling


def finite(_: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number", param=option)
    return value


MODEL_HELP = "Short for --agent chat:MODEL. Repeatable."
AGENT_HELP = "Who attempts: chat:MODEL, oracle, noop or scripted:FILE. Repeatable."
POSITIVE = click.FloatRange(0, min_open=True)

WHO = [
    click.option("-m", "--model", "models", multiple=True, help=MODEL_HELP),
    click.option("--agent", "agents", multiple=True, metavar="KIND[:MODEL]", help=AGENT_HELP),
    click.option("--endpoint", metavar="URL", help="Where the models of -m answer (OpenAI chat)."),
    click.option("--key-env", metavar="NAME", help="The variable with the key of --endpoint."),
    judge_option,
    click.option("--seat", metavar="NAME", help="The seat to measure, where there are several."),
    click.option(
        "--seat-model",
        "seat_models",
        multiple=True,
        metavar="SEAT=MODEL",
        help="Who plays a seat that is not measured; by default the judge. Repeatable.",
    ),
    click.option("--gold-field", help="The row's field that `oracle` answers with."),
]
WHAT = [
    click.option("-n", "tasks", type=click.IntRange(1), help="How many tasks; by default all."),
    click.option(
        "-r", "--trials", type=click.IntRange(1), help="Per task and agent; by default 1."
    ),
    click.option(
        "--task", "selected", multiple=True, help="One task: its index or key. Repeatable."
    ),
    click.option(
        "--task-seed",
        metavar="TEXT",
        help="Draw the -n tasks at random by this seed; by default the first ones.",
    ),
    click.option("--fresh", is_flag=True, help="Draw new trials, whatever is there already."),
    click.option(
        "--until-certain",
        is_flag=True,
        help="No more trials of a task once its verdict would hardly change.",
    ),
]
SAMPLING = [
    click.option(
        "--temperature",
        type=click.FloatRange(0),
        callback=finite,
        help="Sampling; by default the provider's.",
    ),
    click.option("--max-tokens", type=click.IntRange(1), help="Tokens of one reply at the most."),
    click.option(
        "--top-p",
        type=click.FloatRange(0, 1, min_open=True),
        callback=finite,
        help="Nucleus sampling.",
    ),
    click.option("--seed", type=int, help="Of sampling; repetitions of a task count on from it."),
    click.option("--reasoning-effort", metavar="LEVEL", help="Passed on to models that reason."),
]
QUEUE = [
    click.option("--concurrency", type=click.IntRange(1), help="Trials at once of each model."),
    click.option(
        "--priority",
        type=click.IntRange(0, LOWEST_PRIORITY),
        metavar="N",
        help="Among other sweeps: lower goes first; by default 0.",
    ),
    click.option(
        "--label", "labels", multiple=True, metavar="TEXT", help="To find the sweep by. Repeatable."
    ),
    click.option(
        "--budget-usd", type=POSITIVE, callback=finite, help="Dollars that the sweep may cost."
    ),
    click.option("--budget-tokens", type=click.IntRange(1), help="Tokens that it may take."),
    click.option(
        "--budget-seconds", type=POSITIVE, callback=finite, help="Nothing starts after so long."
    ),
]
FILE = click.option(
    *("-c", "--config"),
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A sweep in a TOML file; what is typed wins over it.",
)
OPTIONS = [FILE, *WHO, *WHAT, *SAMPLING, *QUEUE]


def sweep_options(command: Callable[..., None]) -> Callable[..., None]:
    """ENVIRONMENT and every option of a sweep; the command gets one `SweepOptions`, and the
    sandbox."""

    @functools.wraps(command)
    def with_sweep(**given: Any) -> None:
        sweep = take_sweep(given)
        command(sweep, **given)

    wrapped = environment_options(with_sweep)
    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    return click.argument("environment", required=False)(wrapped)


def take_sweep(given: dict[str, Any]) -> SweepOptions:
    """The sweep that was asked for; what says so is taken out of `given`."""
    take = given.pop
    chat = tuple(f"chat:{name}" for name in take("models"))
    sampling = {
        name: take(name) or None if name == "reasoning_effort" else take(name)
        for name in Sampling.model_fields
    }
    budget = {
        "usd": take("budget_usd"),
        "tokens": take("budget_tokens"),
        "wall_seconds": take("budget_seconds"),
    }
    config = take("config")
    flags = Flags(
        agents=(*chat, *take("agents")),
        seat_models=parse_pairs(take("seat_models"), "--seat-model", "SEAT=MODEL"),
        sampling=Sampling.model_validate(sampling),
        limit=take("concurrency"),
        args=parse_args(take("args")),
        budget=Budget.model_validate(budget),
        **{name: take(name) for name in SAME},
    )
    return read_sweep(config, flags, read_settings(process_variables(), Path.cwd()))


SAME = (
    *("environment", "venv", "tasks", "trials", "selected", "task_seed", "gold_field", "endpoint"),
    *("key_env", "judge", "seat", "fresh", "priority", "labels", "until_certain"),
)
"""Options that are flags under their own name."""
