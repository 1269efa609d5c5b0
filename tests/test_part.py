"""A part of a sweep: it can be sent, holds no keys, and is served by who can serve it alone."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from bed import SHORT, make_bed
from envwright.agent import AgentKind, AgentSpec
from envwright.agent.script import Script
from envwright.app import App
from envwright.environment.egress import Egress, Mode
from envwright.errors import Unserved, UsageError
from envwright.model import Model, Protocol, RetryPolicy
from envwright.model.local import local_model
from envwright.settings import EnvironmentTable, FileTables, Settings
from envwright.store.revision import keep_revision
from envwright.trial import Limits, Sampling
from envwright.trial.part import NOWHERE, Cast, Part, part_of, refusal_of
from envwright.trial.plan import Plan
from envwright.work.warm import Warm
from support import make_environment

REVISION, KEY = "a" * 64, "b" * 64
MODEL = Model(name="some/model", base_url="http://10.0.0.1/v1", model="m", api_key_env="SOME_KEY")
PLAYER = Model(
    name="some/player",
    base_url="http://10.0.0.1/v1",
    model="p",
    retry=RetryPolicy(attempts=5),
    limit=3,
)
JUDGE = Model(
    name="some/judge",
    base_url="http://10.0.0.2/v1",
    model="j",
    protocols=(Protocol.ANTHROPIC, Protocol.OPENAI_CHAT),
)
SCRIPT = Script(replies=({"content": "4", "tool_calls": []},), tasks={"0": ()})
PART = Part(
    title="someone/probe",
    environment="probe",
    revision=REVISION,
    plan=Plan(
        tasks=((0, KEY), (7, KEY)),
        agents=(
            AgentSpec(kind=AgentKind.CHAT, subject=MODEL.name, content=MODEL.content),
            AgentSpec(kind=AgentKind.SCRIPTED, subject="./s.json", content=SCRIPT.content),
        ),
        trials=3,
        sampling=Sampling(temperature=0.5, seed=3),
        args={"split": "dev", "deep": {"n": [1, None, 2.5]}},
        judge=JUDGE.content,
        seat="solver",
        played={"user": PLAYER.content},
        limits=Limits(turns=7, wall_seconds=60),
        venv="c" * 64,
        egress=Egress(mode=Mode.ALLOWLIST, allow=("api.example.com",)),
        secrets=("SERPER_KEY",),
        prepared="d" * 64,
    ),
    models={MODEL.name: MODEL},
    scripts={"./s.json": SCRIPT},
    judge=JUDGE,
    seats={"user": PLAYER},
    venv=Path("/opt/venv"),
    sandbox="bubblewrap",
    python=">=3.11",
)


def test_a_part_comes_back_as_it_was_sent():
    sent = PART.model_dump_json()
    back = Part.model_validate_json(sent)
    assert back == PART
    assert set(json.loads(sent)) == set(Part.model_fields)
    assert back.cast == Cast({MODEL.name: MODEL}, {"./s.json": SCRIPT}, JUDGE, {"user": PLAYER})
    assert (back.args, back.limits, back.seat) == (PART.plan.args, PART.plan.limits, "solver")
    assert back.asked == (MODEL, JUDGE, PLAYER)


def test_no_model_of_a_part_can_hold_a_key():
    told = json.loads(PART.model_dump_json())
    told["judge"]["base_url"] = "http://me:hunter22@10.0.0.2/v1"
    with pytest.raises(ValueError, match="holds a user or a password") as raised:
        Part.model_validate_json(json.dumps(told))
    assert "hunter22" not in str(raised.value)


def worker(tmp_path, *, sandbox="bubblewrap", variables=None, **table):
    """A machine of its own with this table for the environment."""
    settings = Settings(
        home=tmp_path / "worker",
        cache=tmp_path / "cache",
        venvs=tmp_path / "venvs",
        file=FileTables(environments={"someone/probe": EnvironmentTable.model_validate(table)}),
        variables={"SOME_KEY": "sk-some-key-of-ours", **(variables or {})},
    )
    return App(settings, sandbox=sandbox, say=lambda _: None)


def part_with(plan=None, **fields):
    """A part that asks for nothing but a key, and for what is given."""
    asked = {"venv": None, "egress": None, "secrets": (), "prepared": None, **(plan or {})}
    changed = PART.plan.model_copy(update=asked)
    return PART.model_copy(update={"venv": None, "plan": changed, **fields})


def why_not(app, part):
    return asyncio.run(app.unserved(part))


def test_a_worker_that_has_all_of_it_serves_a_part(tmp_path):
    assert why_not(worker(tmp_path), part_with()) is None
    open_to_one = {"egress": "allowlist", "allow": ["api.example.com"], "secrets": ["SERPER_KEY"]}
    planned = {
        "egress": PART.plan.egress,
        "secrets": PART.plan.secrets,
        "prepared": PART.plan.prepared,
    }
    app = worker(tmp_path, variables={"SERPER_KEY": "0123456789"}, **open_to_one)
    assert why_not(app, part_with(planned)) is None


@pytest.mark.parametrize(
    ("machine", "part", "words"),
    [
        ({}, part_with(sandbox="none"), ["sandbox 'none'", "--sandbox none"]),
        ({"sandbox": "none"}, part_with(), ["'bubblewrap'", "--sandbox bubblewrap"]),
        ({"variables": {"SOME_KEY": ""}}, part_with(), ["SOME_KEY is not set", "export SOME_KEY"]),
        (
            {},
            part_with(judge=JUDGE.model_copy(update={"api_key_env": "J_KEY"})),
            ["'some/judge'", "J_KEY is not set"],
        ),
        ({}, part_with(venv=Path("/gone/venv")), ["/gone/venv", "pyvenv.cfg"]),
        (
            {},
            part_with({"egress": PART.plan.egress}),
            ["egress is none here", "allowlist", "allow"],
        ),
        (
            {"egress": "allowlist", "allow": ["other.example.com"]},
            part_with({"egress": PART.plan.egress}),
            ["allow lists differ"],
        ),
        ({"secrets": ["SERPER_KEY"]}, part_with(), ["'SERPER_KEY'", "is not set"]),
        (
            {"secrets": ["SERPER_KEY"], "variables": {"SERPER_KEY": "0123456789"}},
            part_with(),
            ["secrets are SERPER_KEY here, and none were planned"],
        ),
        ({}, part_with({"secrets": ("SERPER_KEY",)}), ["are none here", "SERPER_KEY were planned"]),
        ({}, part_with({"prepared": "d" * 64}), ["not prepared on this machine", "prepare"]),
        ({"prepare": {"egress": "open"}}, part_with(), ["prepared on this machine alone"]),
        ({}, part_with(python=">=3.99"), ["wants Python >=3.99", "on PATH"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_worker_says_why_it_cannot_serve_a_part_and_what_to_do(tmp_path, machine, part, words):
    said = why_not(worker(tmp_path, **machine), part)
    assert said is not None
    assert "\n" not in said
    for word in (*words, "hint: "):
        assert word in said


@pytest.fixture(scope="module")
def submitted(tmp_path_factory, venvs):
    """An environment that one machine loaded, kept and made a part of."""
    folder = tmp_path_factory.mktemp("submitter")
    with make_bed(folder, venvs) as bed:
        loaded = bed.do(bed.load(make_environment(folder, count=4), num_tasks=3))
        bed.do(keep_revision(bed.app.store.blobs, loaded.source))
        (task, *_) = bed.do(loaded.tasks(0, 1))
        cast = Cast(models={"local/smollm2": local_model("http://127.0.0.1:4711/v1")}, scripts={})
        plan = Plan(
            tasks=((task.index, task.key),),
            agents=(AgentSpec(kind=AgentKind.NOOP),),
            trials=1,
            args=loaded.args,
            limits=bed.app.settings.file.limits.of_trial().model_copy(update={"turns": 5}),
        )
        yield bed, loaded, part_of(loaded, cast, plan, "bubblewrap")


@pytest.mark.slow
def test_a_part_says_nothing_of_the_machine_that_made_it(submitted):
    bed, _, part = submitted
    said = part.model_dump_json()
    assert str(bed.app.settings.home) not in said
    assert part.models["local/smollm2"].base_url == NOWHERE
    assert Part.model_validate_json(said) == part


@pytest.mark.slow
def test_what_was_loaded_must_be_what_was_planned(submitted):
    _, loaded, part = submitted
    assert refusal_of(part, loaded) is None
    plan = part.plan
    for changed, word in (
        (part.model_copy(update={"revision": REVISION}), "what was loaded is probe at"),
        (part.model_copy(update={"title": "someone/probe"}), "what was loaded is probe at"),
        (part.model_copy(update={"plan": plan.model_copy(update={"args": {}})}), "arguments"),
        (part.model_copy(update={"plan": plan.model_copy(update={"venv": KEY})}), "venv"),
        (part.model_copy(update={"plan": plan.model_copy(update={"seat": "user"})}), "no seat"),
        (part.model_copy(update={"plan": plan.model_copy(update={"played": {"a": KEY}})}), "seats"),
    ):
        assert word in (refusal_of(changed, loaded) or "")
    assert "downloads" in (refusal_of(part, replace(loaded, prepared=KEY)) or "")


@pytest.mark.slow
def test_another_machine_serves_a_part_from_the_store_alone(submitted, tmp_path, venvs):
    bed, first, part = submitted
    settings = Settings(
        home=tmp_path / "worker",
        cache=tmp_path / "cache",
        venvs=venvs,
        blob_url=f"file://{bed.app.settings.home / 'blobs'}",
        file=FileTables(limits=SHORT),
        variables=bed.app.settings.variables,
    )

    async def scene():
        async with App(settings, sandbox="bubblewrap", say=lambda _: None) as app:
            gateway = app.gateway()
            warm = Warm(lambda part: app.load_part(part, gateway))
            try:
                async with warm.use(part) as loaded:
                    assert loaded.environment == first.environment
                    assert loaded.source.folder == tmp_path / "worker" / "revisions" / part.revision
                    assert await loaded.tasks(0, 9) == expected
                    # Of what its results depend on, nothing is taken from this machine.
                    assert loaded.limits.turns == 5 != SHORT.turns
                    assert await warm.drop(part) == 0
                elsewhere = part.model_copy(update={"sandbox": "docker"})
                with pytest.raises(Unserved, match=r"cannot serve probe: .*--sandbox docker"):
                    await app.load_part(elsewhere, gateway)
                missing = part.model_copy(update={"revision": REVISION})
                with pytest.raises(UsageError, match=f"revision {REVISION[:12]} is not in"):
                    await app.load_part(missing, gateway)
                assert await warm.drop(part) == 1
                assert await warm.drop(part) == 0
            finally:
                await warm.close()

    expected = bed.do(first.tasks(0, 9))
    asyncio.run(asyncio.wait_for(scene(), 120))
