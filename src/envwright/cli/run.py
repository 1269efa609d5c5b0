"""`envwright run`: trials of agents on an environment's tasks, with a bar and a table."""

import asyncio
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from envwright.agent import AgentSpec
from envwright.app import App, RunOptions
from envwright.cli import EXIT_FINDINGS, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OURS, EXIT_USAGE
from envwright.cli.output import (
    cell,
    clean,
    console,
    interval_text,
    print_json,
    say,
    table,
    talk_console,
    usd_text,
)
from envwright.cli.progress import SAY_EVERY_SECONDS, follow
from envwright.cli.shared import (
    environment_options,
    json_option,
    judge_option,
    parse_args,
    parse_pairs,
    run_async,
    until,
)
from envwright.errors import Cause
from envwright.trial import Outcome, Sampling, Scored, TrialSpec
from envwright.work.estimate import Estimate
from envwright.work.result import AgentResult, SweepResult
from envwright.work.sweep import Watch


def finite(_: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number", param=option)
    return value


MODEL_HELP = "Short for --agent chat:MODEL. Repeatable."
AGENT_HELP = "Who attempts: chat:MODEL, oracle, noop or scripted:FILE. Repeatable."


@click.command()
@click.argument("environment")
@click.option("-m", "--model", "models", multiple=True, help=MODEL_HELP)
@click.option("--agent", "agents", multiple=True, metavar="KIND[:MODEL]", help=AGENT_HELP)
@click.option("-n", "tasks", type=click.IntRange(1), help="How many tasks; by default all.")
@click.option(
    *("-r", "--trials"),
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Per task and agent.",
)
@click.option("--task", "selected", multiple=True, help="One task: its index or key. Repeatable.")
@click.option(
    "--task-seed",
    metavar="TEXT",
    help="Draw the -n tasks at random by this seed; by default the first ones.",
)
@click.option("--gold-field", help="The row's field that `oracle` answers with.")
@click.option("--endpoint", metavar="URL", help="Where the models of -m answer (OpenAI chat).")
@click.option("--key-env", metavar="NAME", help="The variable with the key of --endpoint.")
@judge_option
@click.option("--seat", metavar="NAME", help="The seat to measure, where there are several.")
@click.option(
    "--seat-model",
    "seat_models",
    multiple=True,
    metavar="SEAT=MODEL",
    help="Who plays a seat that is not measured; by default the judge. Repeatable.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0),
    callback=finite,
    help="Sampling; by default the provider's.",
)
@click.option("--max-tokens", type=click.IntRange(1), help="Tokens of one reply at the most.")
@click.option(
    "--top-p", type=click.FloatRange(0, 1, min_open=True), callback=finite, help="Nucleus sampling."
)
@click.option("--seed", type=int, help="Of sampling; repetitions of a task count on from it.")
@click.option("--reasoning-effort", metavar="LEVEL", help="Passed on to models that reason.")
@click.option("-c", "--concurrency", type=click.IntRange(1), help="Trials at once of each model.")
@click.option("--fresh", is_flag=True, help="Draw new trials, whatever is there already.")
@click.option("--dry-run", is_flag=True, help="Plan and estimate the cost; start nothing.")
@environment_options
@json_option
def run(
    environment: str,
    models: tuple[str, ...],
    agents: tuple[str, ...],
    tasks: int | None,
    trials: int,
    selected: tuple[str, ...],
    task_seed: str | None,
    gold_field: str | None,
    endpoint: str | None,
    key_env: str | None,
    judge: str | None,
    seat: str | None,
    seat_models: tuple[str, ...],
    temperature: float | None,
    max_tokens: int | None,
    top_p: float | None,
    seed: int | None,
    reasoning_effort: str | None,
    concurrency: int | None,
    fresh: bool,
    dry_run: bool,
    args: tuple[str, ...],
    venv: Path | None,
    sandbox: str,
    as_json: bool,
) -> None:
    """Run trials on the tasks of ENVIRONMENT. The same command again does only what is missing."""
    options = RunOptions(
        environment=environment,
        agents=tuple(dict.fromkeys([*(f"chat:{m}" for m in models), *agents])),
        venv=venv,
        tasks=tasks,
        trials=trials,
        selected=selected,
        task_seed=task_seed,
        gold_field=gold_field,
        endpoint=endpoint,
        key_env=key_env,
        judge=judge,
        seat=seat,
        seat_models=parse_pairs(seat_models, "--seat-model", "SEAT=MODEL"),
        sampling=Sampling(
            temperature=temperature,
            max_tokens=max_tokens,
            top_p=top_p,
            seed=seed,
            reasoning_effort=reasoning_effort or None,
        ),
        limit=concurrency,
        fresh=fresh,
        args=parse_args(args),
    )

    async def main(stop: asyncio.Event) -> int:
        async with App.make(sandbox=sandbox, say=say, follow=follow) as app:
            if dry_run:
                print_estimate(await until(stop, app.estimate(options)), as_json=as_json)
                return 0
            with Bars(as_json=as_json) as bars:
                result = await app.run(options, Watch(bars.planned, bars.ended, stop))
        print_result(result, as_json=as_json)
        return exit_code(result, stopped=stop.is_set())

    sys.exit(run_async(main))


class Bars:
    """Progress on stderr: a bar per agent on a terminal, a line now and then elsewhere."""

    def __init__(self, *, as_json: bool) -> None:
        console = talk_console()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._bars: dict[str, TaskID] = {}
        self._seen: dict[str, Counter[str]] = {}
        self._silent = not console.is_terminal
        self._said_at = time.monotonic()
        self._left = 0

    def __enter__(self) -> "Bars":
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def planned(self, sweep: str, trials: Sequence[TrialSpec], missing: set[str]) -> None:
        say(f"sweep {sweep}: {len(trials)} trials, {len(trials) - len(missing)} scored already")
        self._left = len(missing)
        # Not before: until here something else may be shown on the terminal.
        self._progress.start()
        self._said_at = time.monotonic()
        totals = Counter(str(spec.agent) for spec in trials)
        todo = Counter(str(spec.agent) for spec in trials if spec.id in missing)
        for agent, total in totals.items():
            done = total - todo[agent]
            name = clean(agent).replace("[", "\\[")
            self._bars[agent] = self._progress.add_task(name, total=total, completed=done, said="")
            self._seen[agent] = Counter()

    def ended(self, spec: TrialSpec, outcome: Outcome) -> None:
        agent = str(spec.agent)
        seen = self._seen[agent]
        kind = "solved" if isinstance(outcome, Scored) and outcome.reward > 0.5 else outcome.kind
        seen[kind] += 1
        said = ", ".join(
            f"{count} {word}" for word, count in sorted(seen.items()) if word != "scored"
        )
        self._left -= 1
        if self._silent and time.monotonic() - self._said_at > SAY_EVERY_SECONDS:
            self._said_at = time.monotonic()
            say(f"{self._left} trials left")
        self._progress.update(self._bars[agent], advance=1, said=said)


def print_result(result: SweepResult, *, as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        broken = any(row.failed or row.missing for row in result.agents.values())
        columns = [("agent", False), ("scored", True), *([("failed", False)] if broken else [])]
        columns += [("mean reward", False), ("solved", False), ("tokens", True)]
        shown = table(None, [*columns, ("cost", True)], whole=("mean reward", "solved"))
        for agent, row in result.agents.items():
            cells = result_cells(agent, row)
            shown.add_row(
                *(cell(text) for name, text in cells.items() if broken or name != "failed")
            )
        console().print(shown)
        for agent, row in result.agents.items():
            for seat, spent in row.apart.items():
                said = (
                    f"{spent.input}/{spent.output} tokens in/out, cost {usd_text(spent.cost_usd)}"
                )
                say(f"{agent}: beside it, {seat} spent {said}")
        click.echo(f"sweep: {result.sweep}")
        only = " --outcome failed" if any(row.failed for row in result.agents.values()) else ""
        say(f"trials: `envwright trial list --sweep {result.sweep}{only}`")
    # A provider that refused is named at the end, once.
    for words, count in ({} if result.closed else result.why).items():
        say(f"failed, {count} of them: {words}")
    for failure in result.failures:
        say(f"error: a bug in envwright: {failure}")


def result_cells(agent: str, row: AgentResult) -> dict[str, str]:
    failed = ", ".join(f"{count} {cause}" for cause, count in row.failed.items()) or "0"
    if row.missing:
        failed += f", {row.missing} not run"
    mean = "-" if row.mean_reward is None else f"{row.mean_reward:.3f}"
    return {
        "agent": f"{agent} (baseline)" if row.baseline else agent,
        "scored": f"{row.scored}/{row.trials}",
        "failed": failed,
        "mean reward": f"{mean} {interval_text(row.mean_interval)}",
        "solved": f"{row.solved}/{row.scored} {interval_text(row.solved_interval)}",
        "tokens": f"{row.tokens.input}/{row.tokens.output}",
        "cost": usd_text(row.cost_usd),
    }


def exit_code(result: SweepResult, *, stopped: bool) -> int:
    rows = result.agents.values()
    if stopped:
        say("stopped: what is finished is kept; the same command does the rest")
        return EXIT_INTERRUPTED
    if result.failures:
        return EXIT_OURS
    for queue, words in result.closed.items():
        say(f"error: {queue} was stopped: {words}")
    if any(is_refused(AgentSpec.parse(agent), row, result) for agent, row in result.agents.items()):
        return EXIT_USAGE
    if any(row.missing for row in rows):
        return EXIT_INCOMPLETE
    return EXIT_FINDINGS if any(row.failed for row in rows) else 0


def is_refused(agent: AgentSpec, row: AgentResult, result: SweepResult) -> bool:
    """Whether the agent's provider refused its first call."""
    return agent.queue in result.closed and Cause.PROVIDER in row.failed and row.scored == 0


def print_estimate(estimate: Estimate, *, as_json: bool) -> None:
    if as_json:
        print_json(estimate)
        return
    shown = table(
        None,
        [
            ("agent", False),
            ("trials", True),
            ("tokens", True),
            ("cost", True),
            ("basis", False),
        ],
    )
    for agent, row in estimate.agents.items():
        tokens = f"{row.input_tokens}/{row.output_tokens}"
        cells = [agent, str(row.trials), tokens, usd_text(row.cost_usd), row.basis]
        shown.add_row(*(cell(text) for text in cells))
    console().print(shown)
    done = f" ({estimate.scored} scored already)" if estimate.scored else ""
    click.echo(f"trials: {estimate.trials}{done}")
    click.echo(f"cost: {usd_text(estimate.cost_usd)}")
    if estimate.apart:
        say(f"not estimated: what {', '.join(estimate.apart)} will cost beside the agents")
