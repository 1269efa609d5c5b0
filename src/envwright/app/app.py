"""The composition root: the only place that picks implementations."""

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping, Set
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name

from envwright.agent import AgentKind, AgentSpec
from envwright.agent.script import Script, read_script
from envwright.environment import HubId, Installed, Source, read_address, read_folder, snapshot
from envwright.environment.distribution import read_installed
from envwright.environment.egress import Mode, Traffic
from envwright.errors import EnvironmentFailure, SandboxError, Unserved, UsageError
from envwright.gateway import Gateway
from envwright.host import (
    Builder,
    Follow,
    HostLimits,
    Loaded,
    OwnVenv,
    Permit,
    Preparation,
    Show,
    check_python,
    fetch,
    find_interpreter,
    index_of,
    load,
    read_own_venv,
)
from envwright.model import HOLDS_KEY, Model, Protocol, holds_key, price_of
from envwright.model.local import LOCAL_NAME, local_model, pull, serve_local
from envwright.options import RunOptions, SweepOptions
from envwright.record import Json
from envwright.sandbox import Bubblewrap, Sandbox, Unconfined
from envwright.settings import FILE, Settings, process_variables, read_settings
from envwright.store import Store
from envwright.store.revision import fetch_revision
from envwright.trace import ModelCall
from envwright.trial.part import Cast, Part, refusal_of_permit

if TYPE_CHECKING:
    from envwright.store.state import JobStore

SANDBOXES: dict[str, Callable[[], Sandbox]] = {"bubblewrap": Bubblewrap, "none": Unconfined}


@contextmanager
def unseen(_: str) -> Generator[Show]:
    """Nobody watches."""
    yield lambda _: None


class App:
    """What a command works with; everything is made when it is first needed."""

    def __init__(
        self,
        settings: Settings,
        *,
        sandbox: str,
        say: Callable[[str], None],
        follow: Follow = unseen,
    ) -> None:
        self.settings = settings
        self.say = say
        self.follow = follow
        self.sandbox = SANDBOXES[sandbox]()
        self.limits: Mapping[str, int] = {}
        """Trials at once by queue, where a sweep says so."""
        self.stack = AsyncExitStack()
        self._checked = False
        self._local_url: str | None = None
        self._local_start = asyncio.Lock()

    @classmethod
    def make(
        cls,
        *,
        sandbox: str = "bubblewrap",
        say: Callable[[str], None],
        follow: Follow = unseen,
        sweep: SweepOptions | None = None,
    ) -> Self:
        """With what a sweep says of models, budget and limits laid over the settings."""
        settings = read_settings(process_variables(), Path.cwd())
        app = cls(
            sweep.over(settings) if sweep else settings, sandbox=sandbox, say=say, follow=follow
        )
        app.limits = sweep.limits if sweep else {}
        return app

    @cached_property
    def store(self) -> Store:
        settings = self.settings
        return Store(settings.home, settings.database_url, settings.blob_url, settings.variables)

    @property
    def has_store(self) -> bool:
        """Whether there is one already: to ask for what it holds should not make it."""
        made = "store" in self.__dict__ or self.settings.database_url is not None
        return made or (self.settings.home / "envwright.db").exists()

    @cached_property
    def jobs(self) -> "JobStore":
        """The queues' state; DBOS comes with it."""
        from envwright.store.state import JobStore  # noqa: PLC0415

        return JobStore(self.store)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()
        if "jobs" in self.__dict__:
            self.jobs.close()
        if "store" in self.__dict__:
            self.store.close()

    def gateway(self, models: Iterable[Model] = ()) -> Gateway:
        """The door, holding the keys of these models and no others."""
        gateway = Gateway({}, self, self.say)
        self.give_keys(gateway, models)
        self.stack.push_async_callback(gateway.close)
        return gateway

    def record(self, trial: str, attempt: int, call: ModelCall, /) -> None:
        """The gateway's ledger: a command that never asks a model leaves no store behind."""
        self.store.record(trial, attempt, call)

    def give_keys(self, gateway: Gateway, models: Iterable[Model]) -> None:
        for model in models:
            if model.api_key_env and (key := self.settings.key_of(model)):
                gateway.keys[model.api_key_env] = key

    async def model(
        self, name: str, endpoint: str | None, key_env: str | None, *, dry: bool = False
    ) -> Model:
        """The model of this name; unless `dry`, its key at hand and our own server running."""
        if endpoint is not None:
            if holds_key(endpoint):
                raise UsageError(
                    f"--endpoint cannot be used: {HOLDS_KEY}",
                    hint="put the key into a variable, and name that with --key-env",
                )
            if not is_url(endpoint):
                raise UsageError(f"--endpoint {endpoint!r} is no URL", hint="http://HOST:PORT/v1")
            model = Model(name=name, base_url=endpoint, model=name, api_key_env=key_env)
        elif name == LOCAL_NAME:
            if dry:
                return local_model("http://127.0.0.1")
            return local_model(await self.local_url())
        else:
            model = self.settings.model(name)
        if not dry:
            self.settings.key_of(model)
        return model

    async def local_url(self) -> str:
        """Where our own server answers, for as long as this lives; started by the first to ask."""
        async with self._local_start:
            if self._local_url is None:
                cache = self.settings.cache
                await asyncio.to_thread(pull, cache, self.say)
                self._local_url = await self.stack.enter_async_context(serve_local(cache))
        return self._local_url

    async def models_of(self, part: Part) -> Cast:
        """Who the names of a part stand for here: our own model is this machine's."""

        async def here(model: Model) -> Model:
            if not model.free:
                return model
            return model.model_copy(update={"base_url": await self.local_url()})

        return Cast(
            models={name: await here(model) for name, model in part.models.items()},
            scripts=part.scripts,
            judge=await here(part.judge) if part.judge else None,
            seats={seat: await here(model) for seat, model in part.seats.items()},
        )

    async def check_model(
        self, name: str, endpoint: str | None, key_env: str | None
    ) -> tuple[ModelCall, str]:
        """One short call, as a trial would make it, and what came back."""
        model = await self.model(name, endpoint, key_env)
        return await self.gateway([model]).try_out(model)

    def own_venv(self, path: Path | None) -> OwnVenv | None:
        """The user's own venv, where one is named."""
        home = self.settings.variables.get("HOME")
        return None if path is None else read_own_venv(path, Path(home).resolve() if home else None)

    async def resolve(self, text: str, own: OwnVenv | None = None) -> Source:
        """The environment that `text` names; `UsageError` when it names none."""
        match read_address(text, venv=own is not None):
            case HubId() as wanted:
                await self.check_sandbox()
                shelves = self.settings.cache / "hub"
                return await fetch(wanted, self.settings.hub_index, self.builder, shelves)
            case Installed() as wanted:
                assert own is not None
                return read_installed(own.distribution(wanted))
            case folder:
                if own is not None and canonicalize_name(text) in own.found:
                    self.say(f"{text} is taken as the folder, not as what is installed there")
                return read_folder(folder)

    @cached_property
    def builder(self) -> Builder:
        return Builder(
            venvs=self.settings.venvs,
            cache=self.settings.cache / "uv",
            sandbox=self.sandbox,
            variables=self.settings.variables,
            say=self.say,
            follow=self.follow,
        )

    def arguments(self, source: Source, given: Json) -> Json:
        """The environment's arguments: the file's, then the flags'."""
        return {**self.settings.environment(source.title).args, **given}

    def permit(self, source: Source, gateway: Gateway, *, again: bool = False) -> Permit:
        """What the file gives an environment of the outside."""
        return self.permit_of(source.title, gateway.key_names, again=again)

    def permit_of(self, title: str, keys: Set[str], *, again: bool = False) -> Permit:
        """The same by its title, where variables of these names hold keys."""
        table = self.settings.environment(title)
        egress = (table.prepare or table).way_out()
        folder = self.settings.home / "prepared"
        return Permit(
            egress=table.way_out(),
            secrets=self.settings.secrets_of(title, keys),
            prepare=Preparation(egress, folder, again) if egress.mode is not Mode.NONE else None,
        )

    async def cast(
        self, options: RunOptions, *, dry: bool = False
    ) -> tuple[tuple[AgentSpec, ...], Cast]:
        """Who the names of a run stand for; whatever is wrong with them is said first."""
        if not options.agents:
            raise UsageError("who attempts?", hint="give -m MODEL or --agent KIND[:MODEL]")
        parsed = [AgentSpec.parse(text) for text in options.agents]
        models: dict[str, Model] = {}
        scripts: dict[str, Script] = {}
        agents: list[AgentSpec] = []
        for agent in parsed:
            name = agent.subject or ""
            if agent.kind is AgentKind.SCRIPTED:
                scripts[name] = read_script(Path(name).expanduser())
                agent = agent.model_copy(update={"content": scripts[name].content})
            elif agent.kind.needs_model:
                model = await self.model(name, options.endpoint, options.key_env, dry=dry)
                if Protocol.OPENAI_CHAT not in model.protocols:
                    raise UsageError(
                        f"agent {agent.kind} speaks {Protocol.OPENAI_CHAT}, and model {name!r} "
                        f"speaks {' and '.join(model.protocols)}",
                        hint="leave `protocol` out of its [models] table, "
                        "or use it as the judge of an environment that speaks it",
                    )
                limit = options.limit or self.limits.get(name) or model.limit
                models[name] = model.model_copy(update={"limit": limit})
                agent = agent.model_copy(update={"content": models[name].content})
            elif agent.kind is AgentKind.ORACLE:
                agent = agent.model_copy(update={"gold_field": options.gold_field})
            agents.append(agent)
        judge = await self.judge(options.judge, dry=dry)
        seats = {
            seat: await self.model(name, None, None, dry=dry)
            for seat, name in options.seat_models.items()
        }
        if self.settings.file.budget.is_in_usd:
            for model in [*models.values(), *seats.values(), *([judge] if judge else [])]:
                if price_of(model, input_tokens=1000, output_tokens=1000) is None:
                    raise UsageError(
                        f"model {model.name!r} has no known price, so a budget in USD cannot hold",
                        hint="set provider in its [models] table, or budget.tokens instead",
                    )
        return tuple(agents), Cast(models=models, scripts=scripts, judge=judge, seats=seats)

    async def judge(self, name: str | None, *, dry: bool = False) -> Model | None:
        """Whom environment code may ask: the model of this name, else of the judge's role."""
        chosen = name or self.settings.file.roles.judge
        return await self.model(chosen, None, None, dry=dry) if chosen else None

    async def check_sandbox(self) -> None:
        """Refuse rather than degrade."""
        if not self._checked:
            if (problem := await self.sandbox.check()) is not None:
                raise SandboxError(problem)
            if self.sandbox.name == "none":
                self.say("warning: --sandbox none: environment code can read and change your files")
            self._checked = True

    async def load(
        self,
        source: Source,
        args: Json,
        gateway: Gateway,
        own: OwnVenv | None = None,
        *,
        again: bool = False,
    ) -> Loaded:
        """The environment with its hosts; `again` prepares it anew."""
        permit = replace(self.permit(source, gateway, again=again), venv=own)
        await self.check_sandbox()
        kept = snapshot(source, self.revisions)
        limits = self.settings.file.limits.of_host()
        loaded = await self.start(kept, args, limits, gateway, permit)
        self.stack.push_async_callback(loaded.pool.close)
        if loaded.environment.harness is not None:
            self.say(
                f"note: {source.name} brings a harness of its own, which is not run: "
                "a chat loop with its tools plays every seat"
            )
        return loaded

    @property
    def revisions(self) -> Path:
        return self.settings.home / "revisions"

    async def unserved(self, part: Part) -> str | None:
        """Why this machine cannot serve a part, and what to do; nothing is loaded for it."""
        if part.sandbox != self.sandbox.name:
            return (
                f"it is to run in sandbox {part.sandbox!r}, and this worker's is "
                f"{self.sandbox.name!r}. hint: start one with --sandbox {part.sandbox}"
            )
        try:
            for model in part.asked:
                self.settings.key_of(model)
            keys = {model.api_key_env for model in part.asked if model.api_key_env}
            own = self.own_venv(part.venv)
            if own is None:
                await find_interpreter(part.environment, part.python)
            else:
                check_python(part.environment, part.python, own)
            permit = replace(self.permit_of(part.title, keys), venv=own)
        except UsageError as error:
            return str(error)
        return refusal_of_permit(part, permit)

    async def load_part(self, part: Part, gateway: Gateway) -> Loaded:
        """A part's environment from the store alone, with what this machine's file gives it.

        `Unserved` where this machine cannot. Whoever asks closes the pool.
        """
        if (why := await self.unserved(part)) is not None:
            raise Unserved(f"this worker cannot serve {part.title}: {why}")
        await self.check_sandbox()
        source = await fetch_revision(self.store.blobs, part.revision, self.revisions)
        if part.title != source.name:
            owner = part.title.removesuffix(f"/{source.name}")
            index = index_of(owner, self.settings.hub_index)
            source = source.model_copy(update={"owner": owner, "index": index})
        permit = replace(self.permit(source, gateway), venv=self.own_venv(part.venv))
        # What a trial's result depends on comes with it; the rest is this machine's.
        limits = replace(
            self.settings.file.limits.of_host(),
            turns=part.limits.turns,
            stall_seconds=part.limits.stall_seconds,
        )
        return await self.start(source, part.args, limits, gateway, permit)

    async def start(
        self, kept: Source, args: Json, limits: HostLimits, gateway: Gateway, permit: Permit
    ) -> Loaded:
        """The hosts of a snapshot."""
        before = gateway.tally.seen()
        try:
            return await load(kept, self.builder, args, limits, gateway.attach, permit)
        except EnvironmentFailure as error:
            raise with_refusals(error, kept.title, gateway.tally.since(before)) from error


def with_refusals(
    error: EnvironmentFailure, name: str, traffic: Iterable[Traffic]
) -> EnvironmentFailure:
    """The error, with what was refused on the way and how to allow it."""
    refused = [f"{each.host}:{each.port}" for each in traffic if each.verdict.is_refusal]
    if not refused:
        return error
    places = ", ".join(refused[:5])
    allow = ", ".join(f'"{place}"' for place in refused[:5])
    return EnvironmentFailure(
        f"{error.message}; its connection to {places} was refused",
        hint=f'if it may download while it loads: [environments."{name}"] '
        f'prepare = {{ egress = "allowlist", allow = [{allow}] }} in {FILE}',
        detail=error.detail,
    )


def is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
