"""What a sweep would run: its environments loaded, its trials planned, its cost estimated."""

from envwright.app.app import App
from envwright.errors import UsageError
from envwright.gateway import Gateway
from envwright.host import Loaded
from envwright.options import RunOptions, SweepOptions
from envwright.record import digest
from envwright.store import result as results
from envwright.trial.part import Cast, part_of
from envwright.work import sweep as sweep_work
from envwright.work.estimate import Estimate, estimate, estimate_trial, merged
from envwright.work.request import Request
from envwright.work.select import select_tasks
from envwright.work.sweep import Planned, plan_trials

Known = dict[str, Loaded]
"""What is loaded already, by content and arguments: runs of one environment share it."""


async def prepare(
    app: App, options: RunOptions, gateway: Gateway, known: Known, *, dry: bool
) -> tuple[Request, Loaded, Cast]:
    own = app.own_venv(options.venv)
    source = await app.resolve(options.environment, own)
    agents, cast = await app.cast(options, dry=dry)
    if not dry:
        judge = [cast.judge] if cast.judge else []
        app.give_keys(gateway, [*cast.models.values(), *judge, *cast.seats.values()])
    args = app.arguments(source, options.args)
    same = digest([source.revision, args, str(options.venv)])
    if same not in known:
        known[same] = await app.load(source, args, gateway, own)
    request = Request(
        agents=agents,
        tasks=options.tasks,
        trials=options.trials,
        selected=options.selected,
        task_seed=options.task_seed or app.settings.task_seed,
        sampling=app.settings.file.sampling.under(options.sampling),
        args=args,
        seat=options.seat,
        fresh=options.fresh,
        limits=app.settings.file.limits.of_trial(),
        cap=app.settings.file.budget.of_trial(),
    )
    return request, known[same], cast


async def plan_request(app: App, request: Request, loaded: Loaded, cast: Cast) -> Planned:
    tasks = await select_tasks(loaded, request)
    made, trials = plan_trials(request, loaded, cast, tasks, app.store)
    names = [str(agent) for agent in request.agents]
    history = sweep_work.history_of(app.store, loaded.environment.revision, names)
    part = part_of(loaded, cast, made, app.sandbox.name)
    most = request.sampling.max_tokens
    guesses = {
        str(agent): estimate_trial(agent, tasks, cast.models, history.get(str(agent)), most)
        for agent in request.agents
    }
    return Planned(part.model_copy(update={"estimates": guesses}), loaded, tasks, trials)


async def plan_all(app: App, options: SweepOptions, gateway: Gateway) -> list[Planned]:
    known: Known = {}
    planned = [
        await plan_request(app, *await prepare(app, each, gateway, known, dry=False))
        for each in options.runs
    ]
    seen: set[str] = set()
    for each in planned:
        if seen & each.trials.keys():
            raise UsageError(
                f"environment {each.part.title!r} is in this sweep twice, with the same trials",
                hint="name it once",
            )
        seen |= each.trials.keys()
    return planned


async def estimate_all(app: App, options: SweepOptions) -> Estimate:
    known: Known = {}
    found = {each.environment: await estimate_one(app, each, known) for each in options.runs}
    return merged(found) if len(found) > 1 else next(iter(found.values()))


async def estimate_one(app: App, options: RunOptions, known: Known) -> Estimate:
    request, loaded, cast = await prepare(app, options, app.gateway(), known, dry=True)
    tasks = await select_tasks(loaded, request)
    names = [str(agent) for agent in request.agents]
    history = sweep_work.history_of(app.store, loaded.environment.revision, names)
    made, planned = plan_trials(request, loaded, cast, tasks, app.store)
    scored = app.store.read(results.scored_among, [] if request.fresh else list(planned))
    left = [spec.agent for trial, spec in planned.items() if trial not in scored]
    counts = {agent: left.count(agent) for agent in request.agents}
    apart = (*made.played, *(judge.name for judge in loaded.environment.judges))
    most = request.sampling.max_tokens
    found = estimate(counts, tasks, cast.models, history, most, apart)
    return found.model_copy(update={"scored": len(scored)})
