"""`envwright audit`: the scorecard of an environment, as a table, JSON and a page."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from envwright.app import App
from envwright.app.audit import Audited, AuditOptions
from envwright.app.audit import audit as run_audit
from envwright.app.sweep import Watch
from envwright.audit.checks import Rules
from envwright.audit.page import render_page, where
from envwright.audit.scorecard import CheckResult, Scorecard, Status
from envwright.cli import EXIT_FINDINGS, EXIT_INCOMPLETE, EXIT_INTERRUPTED
from envwright.cli.bars import Bars
from envwright.cli.output import cell, clean, console, print_json, say, short, table
from envwright.cli.progress import follow
from envwright.cli.shared import (
    environment_options,
    json_option,
    judge_option,
    parse_args,
    run_async,
)
from envwright.errors import Interrupted, UsageError
from envwright.finding import Finding, ReplyCitation, Severity
from envwright.probe.reply.overlap import SAME_CAUSE, is_explained

SPEC = "spec.md"
FAIL_ON = {"fail": {Status.FAIL}, "warn": {Status.FAIL, Status.WARN}}
SHOWN_CITATIONS = 3


@click.command()
@click.argument("environment")
@click.option(
    "--goal",
    metavar="TEXT|@FILE",
    help="What it is to teach; by default the spec.md beside the environment.",
)
@click.option("-m", "--model", help="Roll it out with this model; without one nothing is asked.")
@click.option("--endpoint", metavar="URL", help="Where the model answers (OpenAI chat).")
@click.option("--key-env", metavar="NAME", help="The variable with the key of --endpoint.")
@judge_option
@click.option("--gold-field", help="The row's field that holds the right answer.")
@click.option(
    "--against",
    multiple=True,
    metavar="FILE|hf:OWNER/NAME",
    help="A dataset that its tasks must not be in: JSONL, CSV or Parquet. Repeatable.",
)
@click.option(
    "-n", "samples", type=click.IntRange(1), default=20, show_default=True, help="Tasks rolled out."
)
@click.option(
    "-r", "--rollouts", type=click.IntRange(1), default=8, show_default=True, help="Of each task."
)
@click.option(
    "--probe-tasks",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Tasks that replies are tried on; drawn across all of them by a fixed seed.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("scorecard.json"),
    show_default=True,
    help="Where the scorecard is written.",
)
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Write it as a page, too."
)
@click.option(
    "--fail-on",
    type=click.Choice(["warn", "fail"]),
    default="fail",
    show_default=True,
    help="The status from which the exit code is 1.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help='Findings that are accepted: a scorecard.json, or a list of {"rule": …}.',
)
@environment_options
@json_option
def audit(
    environment: str,
    goal: str | None,
    out: Path,
    html: Path | None,
    fail_on: str,
    baseline: Path | None,
    sandbox: str,
    as_json: bool,
    args: tuple[str, ...],
    against: tuple[str, ...],
    **given: Any,
) -> None:
    """Whether the reward of ENVIRONMENT can be trusted: six checks, each out of 10."""
    options = AuditOptions(
        environment=environment,
        goal=read_goal(goal, environment),
        args=parse_args(args),
        baseline=baseline,
        against=against,
        **given,
    )
    for path in (out, html):
        if path is not None and not path.expanduser().parent.is_dir():
            raise UsageError(f"{path} cannot be written", hint="its folder does not exist")

    async def main(stop: asyncio.Event) -> int:
        async with App.make(sandbox=sandbox, say=say, follow=follow) as app:
            with Bars() as bars:
                watch = Watch(bars.planned, bars.seen, stop)
                audited = await run_audit(app, options, watch)
        if stop.is_set():
            raise Interrupted("interrupted")
        # First what cannot fail: a full disk takes no verdict with it.
        print_card(audited, as_json=as_json)
        keep(audited, out, html)
        say(f"scorecard: {out}")
        return exit_code(audited.card, fail_on)

    try:
        sys.exit(run_async(main))
    except Interrupted:
        say("stopped: no scorecard was written; rollouts that ended are kept")
        sys.exit(EXIT_INTERRUPTED)


def read_goal(goal: str | None, environment: str) -> str:
    """The goal in words; never nothing."""
    if goal is None:
        spec = next((each for each in specs_beside(environment) if each.is_file()), None)
        if spec is None:
            raise UsageError(
                "what is the environment to teach?",
                hint=f"give --goal TEXT, --goal @FILE, or a {SPEC} beside the environment",
            )
        text, name = read_words(spec, str(spec)), str(spec)
    elif goal.startswith("@"):
        text, name = read_words(Path(goal[1:]).expanduser(), f"--goal {goal}"), goal
    else:
        text, name = goal, "--goal"
    if not text.strip():
        raise UsageError(f"{name} says nothing", hint="say in a sentence what it is to teach")
    return text.strip()


def specs_beside(environment: str) -> list[Path]:
    folder = Path(environment).expanduser()
    return [folder / SPEC, folder.absolute().parent / SPEC] if folder.is_dir() else []


def read_words(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} cannot be read: {error}", hint="check the path") from error


def keep(audited: Audited, out: Path, html: Path | None) -> None:
    text = audited.card.model_dump_json(indent=2)
    out.expanduser().write_text(f"{text}\n", encoding="utf-8")
    if html is not None:
        page = render_page(audited.card, audited.rules)
        html.expanduser().write_text(page, encoding="utf-8", errors="backslashreplace")


def print_card(audited: Audited, *, as_json: bool) -> None:
    card = audited.card
    if as_json:
        print_json(card)
    else:
        shown = table(
            None,
            [
                ("check", False),
                ("status", False),
                ("score", True),
                ("weight", True),
                ("why", False),
            ],
            whole=("check", "status"),
        )
        for check in card.checks:
            shown.add_row(*map(cell, check_cells(check)))
        console().print(shown)
        for check in card.checks:
            for finding in check.findings:
                if not is_explained(finding):
                    print_finding(finding, audited.rules)
            print_explained(check, audited.rules)
        for finding in card.baseline.findings if card.baseline else ():
            click.echo(clean(f"\naccepted: {finding.rule} {finding.statement}"))
        click.echo(clean(f"\n{card.feedback}\n"))
        rating = "none" if card.rating is None else f"{card.rating:.1f}/10"
        if card.rating is not None and card.unfinished:
            rating += ", of the checks that were finished"
        click.echo(f"status: {card.status}")
        click.echo(f"rating: {rating}")
    for entry in card.baseline.stale if card.baseline else ():
        say(f"baseline: found no more: {short(entry, 160)}")


def check_cells(check: CheckResult) -> list[str]:
    score = "-" if check.score is None else f"{check.score:.1f}"
    weight = "-" if check.status is Status.NOT_APPLICABLE else f"{check.weight:g}"
    return [check.check, check.status, score, weight, check.justification]


def print_explained(check: CheckResult, rules: Rules) -> None:
    """One line for each root; their evidence is in the scorecard."""
    by_root: dict[str, list[str]] = {}
    for finding in filter(is_explained, check.findings):
        rule = rules.get(finding.rule)
        name = f"{finding.rule} {rule.name}" if rule else finding.rule
        by_root.setdefault(finding.statement.rpartition(SAME_CAUSE)[2], []).append(name)
    for root, names in by_root.items():
        said = ", ".join(dict.fromkeys(names))
        click.echo(clean(f"\nalso found, of the same cause as {root}: {said}"))


def print_finding(finding: Finding, rules: Rules) -> None:
    mark = "note" if finding.severity is Severity.INFO else str(finding.severity)
    click.echo(clean(f"\n{finding.rule} {mark} ({finding.basis}): {finding.statement}"))
    for citation in finding.citations[:SHOWN_CITATIONS]:
        said = ""
        if isinstance(citation, ReplyCitation) and citation.reply:
            said = f" on '{short(citation.reply, 100)}'"
        click.echo(clean(f"  {where(citation)}{said}: {short(citation.quote, 140)!r}"))
    if (more := len(finding.citations) - SHOWN_CITATIONS) > 0:
        click.echo(f"  and {more} more")
    click.echo(clean(f"  reproduce: {' '.join(finding.reproduce.splitlines())}"))
    if (rule := rules.get(finding.rule)) is not None:
        click.echo(f"  about it: {rule.page}")


def exit_code(card: Scorecard, fail_on: str) -> int:
    """FAIL is 1 before all; what is not finished is 4, whatever else would only warn."""
    if card.status is Status.INCOMPLETE:
        return EXIT_INCOMPLETE
    return EXIT_FINDINGS if card.status in FAIL_ON[fail_on] else 0
