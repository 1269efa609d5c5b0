"""`load`: a source → its venv, its hosts, and the `Environment` that they describe."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from envwright.environment import Environment, Source, Task
from envwright.environment.egress import NO_EGRESS, Egress
from envwright.environment.secret import NO_SECRETS, Secrets
from envwright.errors import EnvironmentFailure, UsageError
from envwright.host.package import place_package
from envwright.host.pool import Pool
from envwright.host.prepare import Cache, Preparation, ensure_prepared
from envwright.host.process import Attach, CallError, HostDied, HostProcess, HostSpec
from envwright.host.reuse import OwnVenv, reuse
from envwright.host.venv import Builder, ensure_venv
from envwright.record import Digest, Json, items, mapping
from envwright.sandbox import Confinement
from envwright.trace import Score
from envwright.trace.verifiers import NotANumber, finite, read_number, read_score

TASKS_PER_CALL = 500
SCORES_PER_CALL = 200


@dataclass(frozen=True, slots=True)
class HostLimits:
    """How far a host's process may go."""

    turns: int = 100
    stall_seconds: float = 60.0
    load_seconds: float = 600.0
    memory_bytes: int = 8 * 2**30
    processes: int = 512
    hosts: int = 2


@dataclass(frozen=True, slots=True)
class Permit:
    """What an environment is given of the outside."""

    egress: Egress = NO_EGRESS
    secrets: Secrets = NO_SECRETS
    prepare: Preparation | None = None
    venv: OwnVenv | None = None
    """A venv of the user's, in place of one that is built."""


NOTHING = Permit()


@dataclass(frozen=True, slots=True)
class Scoring:
    """One reply, scored: its signals, or the problem that stopped them."""

    rewards: dict[str, Score | None]
    metrics: dict[str, float | None]
    skipped: tuple[str, ...]
    not_numbers: tuple[NotANumber, ...] = ()
    problem: str | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    written_bytes: int = 0
    """To whatever it was, by the process itself."""


@dataclass(slots=True)
class Loaded:
    """An environment with processes that serve it."""

    environment: Environment
    source: Source
    pool: Pool
    args: Json
    limits: HostLimits
    venv: Digest | None = None
    """The content of the user's own venv; None where the revision says what is installed."""
    permit: Permit = NOTHING
    prepared: str | None = None
    """The content of its cache."""
    open: Callable[[int | None], Pool] | None = None
    """Further processes of the same revision, with this seed of Python's hashes."""

    @asynccontextmanager
    async def afresh(self, hash_seed: int) -> AsyncGenerator["Loaded"]:
        """The same environment in a process of its own, which has seen nothing yet."""
        assert self.open is not None
        fresh = replace(self, pool=self.open(hash_seed))
        try:
            yield fresh
        finally:
            await fresh.pool.close()

    async def tasks(self, start: int, stop: int) -> list[Task]:
        """Tasks `start` to `stop`, fewer when there are fewer."""
        tasks: list[Task] = []
        first, batch = start, TASKS_PER_CALL
        while first < stop:
            last = min(stop, first + batch)
            try:
                args: Json = {"start": first, "stop": last}
                rows = await self.pool.call("tasks", args, seconds=self.limits.load_seconds)
            except CallError as error:
                if error.type == "BadFrameError" and batch > 1:
                    # Rows too large to send so many at once.
                    batch = max(1, batch // 8)
                    continue
                raise of_call_error(self.source, error) from error
            except HostDied as died:
                raise of_death(self.source, died) from died
            tasks += [Task.model_validate(row) for row in rows]
            if len(rows) < last - first:
                break
            first = last
        return tasks

    async def score(
        self, items: list[Json], seconds: float, token: str | None = None
    ) -> list[Scoring]:
        """Every reply's score; `items` are `{index, key, reply}`, `token` is for judges."""
        scored: list[Scoring] = []
        for first in range(0, len(items), SCORES_PER_CALL):
            batch = items[first : first + SCORES_PER_CALL]
            results = await self.ask("score", {"items": batch, "token": token}, seconds)
            scored += [read_scoring(mapping(result)) for result in results]
        return scored

    async def ask(self, name: str, args: Json, seconds: float) -> Any:
        try:
            return await self.pool.call(name, args, seconds=seconds)
        except CallError as error:
            raise of_call_error(self.source, error) from error
        except HostDied as died:
            raise of_death(self.source, died) from died


async def load(
    source: Source,
    builder: Builder,
    args: Json,
    limits: HostLimits,
    attach: Attach,
    permit: Permit = NOTHING,
) -> Loaded:
    """The environment, described by a host that loaded it; its errors are the user's to read."""
    if source.built and permit.secrets:
        raise UsageError(
            f"environment {source.name}: this revision was written by a builder, "
            f"and is given no secrets ({', '.join(permit.secrets.values)})",
            hint=f"take secrets out of [environments.{source.name!r}]",
        )
    own = permit.venv
    venv = await ensure_venv(source, builder) if own is None else reuse(source, own)
    spec = HostSpec(
        source=source,
        venv=venv,
        package=place_package(builder.venvs),
        args=args,
        turns=limits.turns,
        stall_seconds=limits.stall_seconds,
        load_seconds=limits.load_seconds,
        confinement=Confinement(memory_bytes=limits.memory_bytes, processes=limits.processes),
        egress=permit.egress,
        secrets=permit.secrets,
    )
    if permit.prepare is not None:
        spec = replace(spec, cache=await prepare(spec, permit.prepare, builder, attach))

    def open_pool(hash_seed: int | None) -> Pool:
        seeded = replace(spec, hash_seed=hash_seed)
        return Pool(starter(seeded, builder, attach), most=limits.hosts)

    pool = open_pool(None)
    try:
        with read_by_the_user(source), builder.follow(f"loading {source.name}"):
            described = mapping(await pool.call("describe", {}, seconds=limits.load_seconds))
            environment = Environment.model_validate(
                # Its own word last: a host may lie about its revision, not about which one it is.
                {
                    **described,
                    "kind": venv.kind,
                    "name": source.name,
                    "revision": source.revision,
                }
            )
    except BaseException:
        await pool.close()
        raise
    prepared = spec.cache.content if spec.cache else None
    return Loaded(
        environment, source, pool, args, limits, venv.content, permit, prepared, open_pool
    )


async def prepare(spec: HostSpec, wanted: Preparation, builder: Builder, attach: Attach) -> Cache:
    """Load it once with the egress that this phase has, its cache writable."""
    source = spec.source

    async def fill(cache: Cache) -> None:
        builder.say(f"preparing {source.name} (egress {wanted.egress.mode})")
        with read_by_the_user(source):
            filling = replace(spec, cache=cache, egress=wanted.egress)
            host = await HostProcess.start(filling, builder.sandbox, attach)
            try:
                await host.call("describe", {}, seconds=spec.load_seconds)
                # Some read their data no earlier than this.
                await host.call("tasks", {"start": 0, "stop": 1}, seconds=spec.load_seconds)
            finally:
                await host.close()

    identity = (source.revision, spec.args, str(spec.venv.folder))
    return await ensure_prepared(wanted, identity, fill, builder.say)


@contextmanager
def read_by_the_user(source: Source) -> Generator[None]:
    """What a host's failure to load is called."""
    try:
        yield
    except CallError as error:
        raise of_call_error(source, error) from error
    except HostDied as died:
        raise of_death(source, died) from died
    except ValidationError as error:
        raise EnvironmentFailure(
            f"environment {source.name} does not load: it describes itself wrongly",
            detail=str(error),
        ) from error


def starter(
    spec: HostSpec, builder: Builder, attach: Attach
) -> Callable[[], Awaitable[HostProcess]]:
    async def start() -> HostProcess:
        return await HostProcess.start(spec, builder.sandbox, attach)

    return start


def read_scoring(result: Json) -> Scoring:
    bad: list[NotANumber] = []
    skipped = tuple(str(name) for name in items(result.get("skipped")))
    took = mapping(result.get("took"))
    seconds, busy = finite(took.get("seconds")) or 0.0, finite(took.get("cpu_seconds")) or 0.0
    written = int(finite(took.get("written_bytes")) or 0)
    if (error := result.get("error")) is not None:
        problem = mapping(error)
        said = str(problem.get("traceback") or problem.get("message"))
        return Scoring(
            rewards={},
            metrics={},
            skipped=skipped,
            problem=said,
            seconds=seconds,
            cpu_seconds=busy,
            written_bytes=written,
        )
    return Scoring(
        rewards={n: read_score(n, v, bad) for n, v in mapping(result.get("rewards")).items()},
        metrics={n: read_number(n, v, bad) for n, v in mapping(result.get("metrics")).items()},
        skipped=skipped,
        not_numbers=tuple(bad),
        seconds=seconds,
        cpu_seconds=busy,
        written_bytes=written,
    )


def of_call_error(source: Source, error: CallError) -> UsageError | EnvironmentFailure:
    where = traceback_end(error.traceback)
    if error.cause == "usage":
        return UsageError(f"environment {source.name}: {error}", hint="see `envwright env inspect`")
    return EnvironmentFailure(
        f"environment {source.name} does not load: {error.type}: {error}{where}",
        hint="run it with ENVWRIGHT_DEBUG=1 for the whole traceback",
        detail=error.traceback,
    )


def of_death(source: Source, died: HostDied) -> EnvironmentFailure:
    said = died.tail.strip().splitlines()
    last = traceback_end(died.tail) or (f" ({said[-1].strip()[:200]})" if said else "")
    return EnvironmentFailure(
        f"environment {source.name} does not load: its process ended: {died.why}{last}",
        hint="run it with ENVWRIGHT_DEBUG=1 for all that it printed",
        detail=died.tail,
    )


def traceback_end(traceback: str) -> str:
    """The last line of the environment's own code, as `file:line`."""
    frames = [line.strip() for line in traceback.splitlines() if line.strip().startswith("File ")]
    ours = [
        frame
        for frame in frames
        if "/envwright_host/" not in frame and "site-packages" not in frame
    ]
    own = [frame for frame in ours if "/revisions/" in frame]
    if not own:
        return ""
    parts = own[-1].removeprefix("File ").split(", ")
    path = parts[0].strip('"').split("/revisions/", 1)[-1].partition("/")[2]
    # faulthandler writes `line N in f`, a traceback `line N, in f`.
    line = parts[1].removeprefix("line ").partition(" ")[0] if len(parts) > 1 else ""
    return f" (at {path}:{line})" if line else ""
