"""The audit, as the command asks for it: gather the evidence, then let the checks decide."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import JsonValue

from envwright.agent import AgentSpec
from envwright.app.app import App
from envwright.app.plan import plan_request
from envwright.app.sweep import Watch, run_planned, until
from envwright.audit.assemble import assemble
from envwright.audit.baseline import Baseline, accept, read_baseline
from envwright.audit.checks import Rules, check_of, not_applicable, unfinished
from envwright.audit.scorecard import CheckResult, Scorecard, Subject
from envwright.dataset import read_rows
from envwright.environment import Source
from envwright.errors import EnvironmentFailure, Interrupted, UsageError
from envwright.gateway import Gateway
from envwright.host import Loaded
from envwright.host.venv import ensure_venv
from envwright.model import Model
from envwright.options import RunOptions, SweepOptions
from envwright.probe.reply.overlap import left_of, settle
from envwright.probe.rollout import Rollouts, latency_of, read_latency, read_quality
from envwright.probe.rule import Check, Report
from envwright.probe.rules import RULES
from envwright.record import Json
from envwright.trial.part import Cast
from envwright.work.probe import Probing, Seen, check_field, probe, probe_failure
from envwright.work.request import Request
from envwright.work.rollout import paid_replies, read_rollouts

SEED = "audit"
"""Draws the tasks that are rolled out, so that the same ones are the next time."""
NO_JUDGE = (
    "Whether it asks for what the goal asks for takes a judge's reading, which an audit does not "
    "do yet."
)
NO_MODEL = "No model was given (-m): nothing was rolled out."
NO_DATASETS = "No dataset was named (--against): nothing was compared."
NOT_LOADED = "It does not load, so that nothing of it could be run."


@dataclass(frozen=True, slots=True)
class AuditOptions:
    environment: str
    goal: str
    model: str | None = None
    endpoint: str | None = None
    key_env: str | None = None
    judge: str | None = None
    gold_field: str | None = None
    against: tuple[str, ...] = ()
    samples: int = 20
    """Tasks that are rolled out."""
    rollouts: int = 8
    """Of each of them."""
    probe_tasks: int = 100
    args: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    venv: Path | None = None
    baseline: Path | None = None


@dataclass(frozen=True, slots=True)
class Audited:
    card: Scorecard
    rules: Rules


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that was seen of an environment."""

    source: Source
    seen: Seen
    loaded: Loaded | None = None
    rollouts: Rollouts | None = None


async def audit(app: App, options: AuditOptions, watch: Watch) -> Audited:
    """The scorecard of an environment; one that does not load has one too."""
    baseline = read_known(options.baseline)
    for address in options.against:
        # The first row tells whether it can be read, before anything is built.
        await until(watch.stop, asyncio.to_thread(next, read_rows(address), None))
    gathered = await gather(app, options, watch)
    if watch.stop.is_set():
        raise Interrupted("interrupted")
    return Audited(score(gathered, options, baseline), RULES)


def read_known(path: Path | None) -> Baseline | None:
    if path is None:
        return None
    try:
        return read_baseline(path.expanduser().read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--baseline {path} cannot be read: {error}", hint="check the path"
        ) from error


async def gather(app: App, options: AuditOptions, watch: Watch) -> Gathered:
    # Whom to ask is known before anything is built: a wrong name costs nobody a minute.
    agents, cast = await app.cast(run_options(options)) if options.model else ((), Cast({}, {}))
    judge = cast.judge or await app.judge(options.judge)
    gateway = app.gateway([*cast.models.values(), *([judge] if judge else [])])
    own = app.own_venv(options.venv)
    source = await until(watch.stop, app.resolve(options.environment, own))
    args = app.arguments(source, options.args)
    try:
        loaded = await until(watch.stop, app.load(source, args, gateway, own))
        await until(watch.stop, check_field(loaded, options.gold_field))
        rollouts = None
        if agents:
            # First: what a model solved is a gold where the rows hold none.
            request = request_of(app, options, agents, args)
            rollouts = await roll_out(app, request, loaded, cast, gateway, watch)
        probing = await probing_of(app, options, loaded, gateway, judge)
        return Gathered(source, await until(watch.stop, probe(probing)), loaded, rollouts)
    except EnvironmentFailure as error:
        return Gathered(source, probe_failure(source, error, options.environment))


async def probing_of(
    app: App, options: AuditOptions, loaded: Loaded, gateway: Gateway, judge: Model | None
) -> Probing:
    own, prepare = loaded.permit.venv, loaded.permit.prepare
    folder = own.folder if own else (await ensure_venv(loaded.source, app.builder)).folder
    limits = app.settings.file.limits.of_host()

    def paid() -> Mapping[str, str]:
        """A store that nobody has made yet holds nothing, and is not made for this."""
        if not app.has_store:
            return {}
        return paid_replies(app.store, loaded.environment.revision, loaded.args)

    def load(args: Json) -> Awaitable[Loaded]:
        return app.start(loaded.source, args, limits, gateway, loaded.permit)

    return Probing(
        loaded=loaded,
        gateway=gateway,
        address=options.environment,
        given=options.args,
        judge=judge,
        gold_field=options.gold_field,
        count=options.probe_tasks,
        against=options.against,
        site=next(iter(sorted(folder.glob("lib/python3*/site-packages"))), None),
        prepare=prepare.egress if prepare else None,
        paid=paid,
        load=load,
        say=app.say,
    )


def request_of(
    app: App, options: AuditOptions, agents: tuple[AgentSpec, ...], args: Json
) -> Request:
    file = app.settings.file
    return Request(
        agents=agents,
        tasks=options.samples,
        trials=options.rollouts,
        task_seed=app.settings.task_seed or SEED,
        sampling=file.sampling,
        args=args,
        limits=file.limits.of_trial(),
        cap=file.budget.of_trial(),
    )


def run_options(options: AuditOptions) -> RunOptions:
    """Who rolls it out, in the words of a run."""
    return RunOptions(
        environment=options.environment,
        agents=(f"chat:{options.model}",),
        endpoint=options.endpoint,
        key_env=options.key_env,
        judge=options.judge,
    )


async def roll_out(
    app: App, request: Request, loaded: Loaded, cast: Cast, gateway: Gateway, watch: Watch
) -> Rollouts:
    """What is scored already is not run again: trials are known by all that they depend on."""
    total = loaded.environment.tasks.count
    wanted = request if total is None else replace(request, tasks=min(request.tasks or 1, total))
    planned = await until(watch.stop, plan_request(app, wanted, loaded, cast))
    result = await run_planned(app, SweepOptions(runs=()), [planned], gateway, watch)
    for failure in result.failures:
        app.say(f"error: a bug in envwright: {failure}")
    await app.store.flush()
    return read_rollouts(app.store, result.sweep, str(request.agents[0]), planned.tasks, total)


def score(gathered: Gathered, options: AuditOptions, baseline: Baseline | None) -> Scorecard:
    """Pure: what was gathered → the scorecard."""
    seen, rollouts = gathered.seen, gathered.rollouts
    rolled = [*read_quality(rollouts), *read_latency(rollouts)] if rollouts else []
    found = [*seen.reports, *rolled]
    kept, accepted = accept(settle(found), baseline)
    # A fault that is accepted explains no other: those stand for themselves.
    reports = settle(left_of(found, kept))
    results = [
        check_of(Check.INTEGRITY, reports, RULES),
        not_applicable(Check.PROBLEM_ALIGNMENT, NO_JUDGE),
        reward_design(gathered, reports),
        *of_rollouts(gathered, options, reports),
        contamination(gathered, options, reports),
    ]
    environment = gathered.loaded.environment if gathered.loaded else None
    subject = Subject(
        name=gathered.source.title,
        kind=environment.kind if environment else None,
        revision=gathered.source.revision,
        goal=options.goal,
    )
    return assemble(subject, results, RULES, accepted, seen.notes)


def reward_design(gathered: Gathered, reports: Sequence[Report]) -> CheckResult:
    check = Check.REWARD_DESIGN
    if gathered.loaded is None:
        return unfinished(check, NOT_LOADED)
    seen = gathered.seen
    said = f"The gold is {seen.gold_from}." if seen.gold_from else ""
    return check_of(check, reports, RULES, said=said, no_gold=seen.no_gold)


def of_rollouts(
    gathered: Gathered, options: AuditOptions, reports: Sequence[Report]
) -> list[CheckResult]:
    checks = (Check.LATENCY, Check.ROLLOUT_QUALITY)
    if options.model is None:
        return [not_applicable(check, NO_MODEL) for check in checks]
    rollouts = gathered.rollouts
    if rollouts is None:
        return [unfinished(check, NOT_LOADED) for check in checks]
    if not rollouts.scored:
        lost = f"None of {len(rollouts.each)} rollouts by {rollouts.agent} was scored."
        quality = check_of(Check.ROLLOUT_QUALITY, reports, RULES, said=lost)
        return [unfinished(Check.LATENCY, lost), quality]
    total = "endless" if rollouts.of is None else rollouts.of
    who = (
        f"{len(rollouts.scored)} of {len(rollouts.each)} rollouts by {rollouts.agent} on "
        f"{rollouts.tasks} of {total} tasks were scored."
    )
    spread = latency_of(rollouts)
    return [
        check_of(Check.LATENCY, reports, RULES, said=str(spread) if spread else who),
        check_of(Check.ROLLOUT_QUALITY, reports, RULES, said=who),
    ]


def contamination(
    gathered: Gathered, options: AuditOptions, reports: Sequence[Report]
) -> CheckResult:
    check = Check.CONTAMINATION
    if not options.against:
        return not_applicable(check, NO_DATASETS)
    if gathered.loaded is None:
        return unfinished(check, NOT_LOADED)
    return check_of(check, reports, RULES, said=f"Compared with {', '.join(options.against)}.")
