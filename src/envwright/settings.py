"""`Settings`: envwright.toml < environment variables < flags, read once.

The file is found upward from the working directory; state lives beside it. A mistake
in it is reported with its line and key.
"""

import os
import re
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Self

from pydantic import Field, JsonValue, ValidationError, field_validator, model_validator

from envwright.budget import Budget
from envwright.environment.egress import Egress, Mode
from envwright.environment.secret import SHORTEST, Secrets
from envwright.errors import UsageError
from envwright.host import HostLimits
from envwright.model import (
    HOLDS_KEY,
    Model,
    Protocol,
    RetryPolicy,
    holds_key,
    preset_names,
    preset_of,
    provider_key_names,
)
from envwright.model.local import LOCAL_NAME
from envwright.record import Record
from envwright.toml import read_document
from envwright.trial import Limits, Sampling

FILE = "envwright.toml"
HUB_INDEX = "https://hub.primeintellect.ai/{owner}/simple/"
SECRET_NAME = re.compile(r"(?!ENVWRIGHT_|LD_|PYTHON)[A-Za-z_][A-Za-z0-9_]*")
RESERVED = {
    *("HOME", "PATH", "LANG", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("OPENAI_BASE_URL", "PRIME_INFERENCE_URL", "ANTHROPIC_BASE_URL"),
}
"""Variables that mean something to the host itself."""


class ModelTable(Record):
    """`[models."provider/model"]`"""

    protocol: Protocol | None = None
    """The one it is spoken to in; all that a well-known provider speaks, else `openai-chat`."""
    base_url: str | None = Field(default=None, pattern=r"^https?://")
    """Where it answers, without a user or a password; a well-known provider's by default."""
    model: str | None = None
    """The provider's name for it; by default what follows the slash."""
    api_key_env: str | None = None
    """The variable that holds the key."""
    limit: int | None = Field(default=None, ge=1)
    """Trials at once; 32 by default."""
    provider: str | None = None
    """The provider's id in the price list; without one the price is unknown."""
    retry: RetryPolicy = RetryPolicy()
    """`{ attempts = 3, first_seconds = 1, longest_seconds = 300, parks = 100,
    quota_seconds = 900 }`: attempts that a trial gets when the provider fails; the pause after
    the first, twice as long after each that follows, and the longest; how often a trial may be
    sent away by a provider that asks to wait, which costs it no attempt; the pause when nothing
    is left to pay with."""

    @field_validator("base_url")
    @classmethod
    def tells_no_key(cls, url: str | None) -> str | None:
        if url is not None and holds_key(url):
            raise ValueError(f"{HOLDS_KEY}: name the key's variable in api_key_env instead")
        return url


class RolesTable(Record):
    """`[roles]`"""

    judge: str | None = None
    """The model that environment code may ask; `--judge` wins."""


class EgressTable(Record):
    egress: Mode = Mode.NONE
    """What its code reaches beside the models: `none`, `allowlist` or `open`."""
    allow: tuple[str, ...] = ()
    """Hosts: `api.example.com`, `*.example.org:443`, `10.0.0.5:8000`; ports 443 and 80 unless
    named. Addresses that are not public only as an exact host and port."""

    @model_validator(mode="after")
    def check(self) -> Self:
        self.way_out()
        return self

    def way_out(self) -> Egress:
        return Egress(mode=self.egress, allow=self.allow)


class PrepareTable(EgressTable):
    """`prepare` of `[environments.name]`"""


class EnvironmentTable(EgressTable):
    """`[environments.name]`"""

    args: dict[str, JsonValue] = {}
    """Arguments of the environment of this name; `--arg` wins."""
    prepare: PrepareTable | None = None
    """`{ egress = "open", allow = […] }`: while it is loaded once to fill its cache; by default
    its own egress."""
    secrets: tuple[str, ...] = ()
    """Variables of yours that it is given; their values are kept nowhere."""


class HubTable(Record):
    """`[hub]`"""

    index: str = Field(default=HUB_INDEX, pattern=r"^https?://[^\s]*\{owner\}[^\s]*$", repr=False)
    """Where the packages of an owner are listed; `ENVWRIGHT_HUB_INDEX` wins."""


class LimitsTable(Record):
    """`[limits]`: caps on one trial and on its host."""

    turns: int = Field(default=100, ge=1)
    """Model turns of a trial; beyond them it is scored as it stands."""
    wall_seconds: float = Field(default=1800.0, gt=0)
    """An agent's time; beyond it the trial is scored as it stands."""
    scoring_seconds: float = Field(default=300.0, gt=0)
    """A trial's time for finalize, and again for scoring; beyond it the grader failed."""
    stall_seconds: float = Field(default=60.0, gt=0)
    """Environment code that holds up its process for so long is moved apart."""
    load_seconds: float = Field(default=600.0, gt=0)
    """Time to load an environment, or to list its tasks."""
    memory_mb: int = Field(default=8192, ge=256)
    """Memory of one host process, and of all that it starts where cgroups can be written."""
    processes: int = Field(default=512, ge=8)
    """Processes and threads in one sandbox, where cgroups can be written."""
    hosts: int = Field(default=2, ge=1)
    """Processes that serve one revision."""

    def of_trial(self) -> Limits:
        return Limits(
            turns=self.turns,
            wall_seconds=self.wall_seconds,
            scoring_seconds=self.scoring_seconds,
            stall_seconds=self.stall_seconds,
        )

    def of_host(self) -> HostLimits:
        return HostLimits(
            turns=self.turns,
            stall_seconds=self.stall_seconds,
            load_seconds=self.load_seconds,
            memory_bytes=self.memory_mb * 2**20,
            processes=self.processes,
            hosts=self.hosts,
        )


class StoreTable(Record):
    """`[store]`"""

    budget: Budget = Budget()
    """`{ usd = 100.0 }`: caps on all that this store ever ran, over those of a sweep."""


class FileTables(Record):
    """All that envwright.toml may say."""

    models: dict[str, ModelTable] = {}
    sampling: Sampling = Sampling()
    roles: RolesTable = RolesTable()
    environments: dict[str, EnvironmentTable] = {}
    hub: HubTable = HubTable()
    limits: LimitsTable = LimitsTable()
    budget: Budget = Budget()
    store: StoreTable = StoreTable()


class Settings(Record):
    home: Path
    cache: Path
    """Of this machine: models and downloads, shared by all projects."""
    venvs: Path
    database_url: str | None = Field(default=None, repr=False)
    """Of a PostgreSQL; else the store is a SQLite file in the home."""
    blob_url: str | None = Field(default=None, repr=False)
    """`s3://…` or `file://…`; else blobs are in the home."""
    task_seed: str | None = Field(default=None, repr=False)
    """Draws the tasks of a run; in no file, so that who edits the project does not read it."""
    hub_index: str = Field(default=HUB_INDEX, repr=False)
    """Of an owner, in place of `{owner}`."""
    file: FileTables = FileTables()
    variables: dict[str, str] = Field(default={}, repr=False)

    def under(self, models: Mapping[str, ModelTable], budget: Budget | None) -> "Settings":
        """These settings below what a sweep says of its models and its budget, key by key."""
        tables = dict(self.file.models)
        for name, table in models.items():
            own = tables.get(name) or ModelTable()
            said = own.model_dump(exclude_unset=True) | table.model_dump(exclude_unset=True)
            tables[name] = ModelTable.model_validate(said)
        changed = {"models": tables, "budget": self.file.budget.under(budget)}
        return self.model_copy(update={"file": self.file.model_copy(update=changed)})

    def model(self, name: str) -> Model:
        """The model of this name; `UsageError` when nothing tells where it answers."""
        table = self.file.models.get(name)
        known = preset_of(name)
        if table is None and known is None:
            raise UsageError(
                f"model {name!r} is not known",
                hint=f"write PROVIDER/MODEL with one of {', '.join(preset_names())}, "
                f"{LOCAL_NAME}, add [models.{name!r}] to {FILE}, or give --endpoint URL",
            )
        if table is None:
            assert known is not None
            return known
        base_url = table.base_url or (known.base_url if known else None)
        if base_url is None:
            raise UsageError(f"[models.{name!r}] has no base_url", hint=f"add one in {FILE}")
        own = known if table.base_url is None else None
        protocols = own.protocols if own else (Protocol.OPENAI_CHAT,)
        return Model(
            name=name,
            protocols=(table.protocol,) if table.protocol else protocols,
            base_url=base_url,
            model=table.model or name.partition("/")[2] or name,
            api_key_env=table.api_key_env or (own.api_key_env if own else None),
            limit=table.limit or 32,
            provider=table.provider or (known.provider if known else None),
            retry=table.retry,
        )

    def key_of(self, model: Model) -> str | None:
        """The provider's key; `UsageError` when it is needed and not set."""
        if model.api_key_env is None:
            return None
        key = self.variables.get(model.api_key_env)
        if not key:
            raise UsageError(
                f"model {model.name!r}: the key {model.api_key_env} is not set",
                hint=f"export {model.api_key_env}=…",
            )
        return key

    def environment(self, name: str) -> EnvironmentTable:
        return self.file.environments.get(name) or EnvironmentTable()

    def secrets_of(self, name: str, keys: Set[str] = frozenset()) -> Secrets:
        """What an environment is given by name; `keys` are further variables that hold keys."""
        held = {*provider_key_names(), *keys}
        held |= {t.api_key_env for t in self.file.models.values() if t.api_key_env}
        values: dict[str, str] = {}
        for secret in self.environment(name).secrets:
            value = self.variables.get(secret)
            where = f"secret {secret!r} of environment {name!r}"
            if not SECRET_NAME.fullmatch(secret) or secret.upper() in RESERVED:
                raise UsageError(f"{where} is no name for one", hint="name a variable of yours")
            if not value and secret not in held:
                raise UsageError(f"{where} is not set", hint=f"export {secret}=…")
            if secret in held or value in {self.variables.get(key) for key in held}:
                raise UsageError(
                    f"{where} is a provider's key, and no environment is given one",
                    hint="its code asks models through the gateway",
                )
            if value is None or len(value) < SHORTEST:
                raise UsageError(
                    f"{where} is shorter than {SHORTEST} characters, too short to be redacted",
                    hint="take it out of secrets",
                )
            values[secret] = value
        return Secrets(values)


def read_settings(variables: Mapping[str, str], start: Path) -> Settings:
    path = find_file(start)
    tables = read_file(path) if path else FileTables()
    beside = path.parent if path else start
    home = Path(variables.get("ENVWRIGHT_HOME") or beside / ".envwright").absolute()
    cache_base = variables.get("XDG_CACHE_HOME") or Path(variables.get("HOME") or "~") / ".cache"
    if ":" in str(home):
        raise UsageError(f"{home} holds a colon, which no path list can", hint="set ENVWRIGHT_HOME")
    return Settings(
        home=home,
        cache=Path(variables.get("ENVWRIGHT_CACHE") or Path(cache_base) / "envwright").absolute(),
        venvs=Path(variables.get("ENVWRIGHT_VENVS") or home / "venvs").absolute(),
        database_url=variables.get("ENVWRIGHT_DATABASE_URL") or None,
        blob_url=variables.get("ENVWRIGHT_BLOB_URL") or None,
        task_seed=variables.get("ENVWRIGHT_TASK_SEED") or None,
        hub_index=hub_index(variables, tables),
        file=tables,
        variables=dict(variables),
    )


def hub_index(variables: Mapping[str, str], tables: FileTables) -> str:
    if not (index := variables.get("ENVWRIGHT_HUB_INDEX")):
        return tables.hub.index
    try:
        return HubTable(index=index).index
    except ValidationError as error:
        # The URL may hold a key: it is not repeated.
        raise UsageError(
            "ENVWRIGHT_HUB_INDEX is no URL with {owner} in it", hint=f"such as {HUB_INDEX}"
        ) from error


def find_file(start: Path) -> Path | None:
    return next((p / FILE for p in (start, *start.parents) if (p / FILE).is_file()), None)


def read_file(path: Path) -> FileTables:
    return read_document(path).parse(FileTables)


def process_variables() -> Mapping[str, str]:
    """The only reading of the process's environment."""
    return os.environ
