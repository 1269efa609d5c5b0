"""A venv of the user's: what is installed there, what it lacks, and what it must not show."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from bed import make_bed
from envwright.agent import AgentKind, AgentSpec
from envwright.environment import Installed, read_folder, snapshot
from envwright.environment.distribution import distributions, read_distribution, read_installed
from envwright.errors import UsageError
from envwright.host import ensure_venv, read_own_venv
from envwright.host.reuse import OwnVenv, reuse
from envwright.trial import TrialSpec
from envwright.trial.plan import Plan
from index import files_of_example, installed_files
from support import DEPENDENCIES, EXAMPLES, make_environment

NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
BASE = Path(sys.base_prefix).resolve()
SUMS = files_of_example("sums")


def put(site: Path, files: dict[str, bytes]) -> None:
    for name, body in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)


def make_venv(folder: Path, *, home: Path = BASE / "bin", more: str = "") -> Path:
    """A venv with small packages in the place of verifiers and of an environment."""
    site = folder / "lib" / NAME / "site-packages"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(BASE / "bin" / NAME)
    version = ".".join(map(str, sys.version_info[:3]))
    (folder / "pyvenv.cfg").write_text(f"home = {home}\nversion = {version}\n{more}")
    put(site, installed_files("verifiers", "0.4.2", {"verifiers/__init__.py": ""}))
    put(site, installed_files("sums", "0.1.0", SUMS, DEPENDENCIES))
    return folder


def site_of(venv: Path) -> Path:
    return venv / "lib" / NAME / "site-packages"


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    return make_venv(tmp_path / "venv")


def own(venv: Path, home: Path | None = None) -> OwnVenv:
    return read_own_venv(venv, home)


def installed(venv: Path, name: str = "sums", version: str | None = None):
    return read_installed(own(venv).distribution(Installed(name=name, version=version)))


# What is installed


def test_an_installed_package_is_a_revision_wherever_it_lies(venv, tmp_path):
    source = installed(venv)
    kept = snapshot(source, tmp_path / "revisions")
    names = {p.relative_to(kept.folder).as_posix() for p in kept.folder.rglob("*") if p.is_file()}
    assert names == {"sums/__init__.py", "sums/taskset.py", "sums-0.1.0.dist-info/METADATA"}
    assert (kept.import_path, kept.module) == (kept.folder, "sums")
    elsewhere = installed(make_venv(tmp_path / "other"))
    assert elsewhere.revision == source.revision
    (site_of(venv) / "sums" / "taskset.py").write_text("x = 1")
    assert installed(venv).revision != source.revision


def test_one_that_is_installed_with_e_is_its_folder(venv, tmp_path):
    root = make_environment(tmp_path, name="probe", source="x = 1\n")
    note = json.dumps({"url": root.as_uri(), "dir_info": {"editable": True}})
    files = {"__editable__.probe.pth": str(root)}
    put(site_of(venv), installed_files("probe", "0.1.0", files, DEPENDENCIES))
    (site_of(venv) / "probe-0.1.0.dist-info" / "direct_url.json").write_text(note)
    assert installed(venv, "probe") == read_folder(root)
    (root / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["verifiers"]\n')
    (root / "probe").rename(root / "x")
    with pytest.raises(UsageError, match=r"is installed from .*, which holds x"):
        installed(venv, "probe")
    shutil.rmtree(root)
    with pytest.raises(UsageError, match=r"is installed from .*, which is not there"):
        installed(venv, "probe")


def test_a_package_that_lies_there_cannot_claim_to_lie_elsewhere(venv, tmp_path):
    root = make_environment(tmp_path, name="sums", source="SECRET = 1\n")
    note = json.dumps({"url": root.as_uri(), "dir_info": {"editable": True}})
    (site_of(venv) / "sums-0.1.0.dist-info" / "direct_url.json").write_text(note)
    assert installed(venv).folder == site_of(venv)


@pytest.mark.parametrize(
    "named",
    [
        *("../../../../outside.txt", "/etc/passwd", "sums/../../../../../outside.txt", "bin/tool"),
        *("sums/.env", "sums/x.pyc", "other-1.0.dist-info/METADATA", "sums/\0", ""),
        "sums-0.1.0.dist-info/direct_url.json",
    ],
)
def test_a_record_brings_along_nothing_but_its_own_files(venv, tmp_path, named):
    (tmp_path / "outside.txt").write_text("secret")
    before = installed(venv)
    if "\0" not in named and not named.startswith(("/", "..")) and named:
        put(site_of(venv), {named: b"secret"})
    record = site_of(venv) / "sums-0.1.0.dist-info" / "RECORD"
    record.write_text(f"{named},,\n{record.read_text()}")
    after = installed(venv)
    assert after.revision == before.revision
    kept = snapshot(after, tmp_path / "revisions").folder
    assert not [p for p in kept.rglob("*") if p.is_file() and b"secret" in p.read_bytes()]


@pytest.mark.parametrize("where", ["sums/data.txt", "sums/data/outside.txt"])
def test_a_file_that_leads_out_of_site_packages_is_refused_by_name(venv, tmp_path, where):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "outside.txt").write_text("secret")
    link = site_of(venv) / "sums" / where.split("/")[1]
    link.symlink_to(tmp_path / "out" / ("outside.txt" if where.endswith("data.txt") else ""))
    record = site_of(venv) / "sums-0.1.0.dist-info" / "RECORD"
    record.write_text(f"{where},,\n{record.read_text()}")
    with pytest.raises(UsageError, match=rf"{where} links to .*outside\.txt, out of"):
        installed(venv)


BROKEN = {
    "no record": ("RECORD", None, "RECORD cannot be read"),
    "a record without end": ("RECORD", '"' + "x" * 200_000, "RECORD: field larger"),
    "no metadata": ("METADATA", None, "METADATA cannot be read"),
    "another name": ("METADATA", "Name: other\n", "names another package: 'other'"),
    "no dependency": ("METADATA", "Name: sums\n", "does not depend on verifiers"),
    "a bad dependency": (
        *("METADATA", "Name: sums\nRequires-Dist: --index-url http://x\n", "is no requirement"),
    ),
    "only for an extra": (
        *("METADATA", 'Name: sums\nRequires-Dist: verifiers; extra == "eval"\n'),
        "does not depend on verifiers",
    ),
}


@pytest.mark.parametrize(("file", "text", "words"), BROKEN.values(), ids=BROKEN)
def test_a_distribution_that_is_no_environment_is_named(venv, file, text, words):
    path = site_of(venv) / "sums-0.1.0.dist-info" / file
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(UsageError, match=words) as raised:
        installed(venv)
    assert raised.value.hint


def test_metadata_that_leads_elsewhere_is_not_read(venv, tmp_path):
    path = site_of(venv) / "sums-0.1.0.dist-info" / "METADATA"
    (tmp_path / "secret").write_text("Name: sums\nRequires-Dist: verifiers\n")
    path.unlink()
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="METADATA cannot be read"):
        installed(venv)


def test_another_name_or_version_than_is_installed_is_said(venv):
    assert installed(venv, "sums", "0.1.0") == installed(venv, "Sums")
    with pytest.raises(UsageError, match=r"not installed in .*venv"):
        installed(venv, "nothing")
    with pytest.raises(UsageError, match=r"has version 0\.1\.0, not 0\.2"):
        installed(venv, "sums", "0.2")


# The venv


def link_python(venv: Path, to: Path) -> None:
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").symlink_to(to)


UNUSABLE = {
    "no venv": (lambda v: (v / "pyvenv.cfg").unlink(), "it has no pyvenv.cfg"),
    "nowhere": (lambda v: (v / "pyvenv.cfg").write_text("home = /nowhere/bin"), "there is no pyth"),
    "no home": (lambda v: (v / "pyvenv.cfg").write_text("version = 3.12"), "missing or unclear"),
    "relative": (lambda v: (v / "pyvenv.cfg").write_text("home = ../x/bin"), "missing or unclear"),
    "no site": (lambda v: shutil.rmtree(v / "lib"), "missing or unclear"),
    "program": (lambda v: link_python(v, Path("/usr/bin/env")), "bin/python leads to /usr/bin/env"),
    "gone": (lambda v: link_python(v, v / "gone"), "bin/python leads to"),
    "site out": (
        lambda v: (v / "lib").rename(v.parent / "x") and (v / "lib").symlink_to(v.parent / "x"),
        "leads out of it",
    ),
    "system": (
        lambda v: (v / "pyvenv.cfg").write_text(
            f"home = {BASE / 'bin'}\ninclude-system-site-packages = true\n"
        ),
        "uses packages of the system",
    ),
}


@pytest.mark.parametrize(("change", "words"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_venv_that_a_sandbox_could_not_use_is_refused(venv, change, words):
    change(venv)
    with pytest.raises(UsageError, match=words) as raised:
        own(venv)
    assert raised.value.hint


@pytest.mark.parametrize("home", ["venv", "venv/projects/mine", "own", "own/me"])
def test_a_venv_whose_use_would_show_the_home_is_refused(tmp_path, home):
    prefix = tmp_path / "own"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").symlink_to(BASE / "lib")
    venv = make_venv(tmp_path / "venv", home=prefix / "bin")
    link_python(venv, prefix / "bin" / NAME)
    shutil.copy(BASE / "bin" / NAME, prefix / "bin" / NAME)
    assert own(venv, tmp_path / "elsewhere").base_prefix == prefix
    shown = prefix if home.startswith("own") else venv
    inside = tmp_path / home
    inside.mkdir(parents=True, exist_ok=True)
    with pytest.raises(UsageError, match=f"would have to see {shown}, and so your home"):
        own(venv, inside)


LACKING = {
    "none": (lambda s: shutil.rmtree(s / "verifiers-0.4.2.dist-info"), "it has no verifiers"),
    "older": (
        lambda s: (s / "verifiers-0.4.2.dist-info").rename(s / "verifiers-0.1.14.dist-info"),
        r"it has verifiers 0\.1\.14, not <0\.5,>=0\.4",
    ),
    "linked": (
        lambda s: (
            (s / "verifiers-0.4.2.dist-info").rename(s.parents[3] / "x")
            and (s / "verifiers-0.4.2.dist-info").symlink_to(s.parents[3] / "x")
        ),
        "its verifiers is only linked",
    ),
    "with -e": (
        lambda s: (s / "verifiers-0.4.2.dist-info" / "direct_url.json").write_text(
            '{"url": "file:///src/verifiers", "dir_info": {"editable": true}}'
        ),
        "its verifiers lies in /src/verifiers, which a sandbox does not see",
    ),
}


@pytest.mark.parametrize(("change", "words"), LACKING.values(), ids=LACKING)
def test_what_a_venv_lacks_is_said_before_anything_starts(venv, change, words):
    source = read_folder(EXAMPLES / "sums")
    assert reuse(source, own(venv)).kind == "verifiers"
    change(site_of(venv))
    with pytest.raises(UsageError, match=words) as raised:
        reuse(source, own(venv))
    assert "uv pip install" in (raised.value.hint or "")


def test_a_python_that_the_environment_does_not_accept_is_said(venv):
    source = read_folder(EXAMPLES / "sums").model_copy(update={"requires_python": ">=3.99"})
    with pytest.raises(UsageError, match=r"wants Python >=3\.99, and venv .* has 3\."):
        reuse(source, own(venv))


# What a result depends on


def test_the_content_of_a_venv_follows_what_is_installed_and_not_where(venv, tmp_path):
    content = own(venv).content
    assert own(make_venv(tmp_path / "other")).content == content
    put(site_of(venv), installed_files("helper", "1.0", {"helper.py": "x = 1"}))
    more = own(venv).content
    assert more != content
    (site_of(venv) / "helper-1.0.dist-info").rename(site_of(venv) / "helper-1.1.dist-info")
    assert own(venv).content not in (content, more)


def test_a_package_from_a_folder_is_known_by_its_files(venv):
    put(site_of(venv), installed_files("helper", "1.0", {"helper.py": "x = 1"}))
    (site_of(venv) / "helper-1.0.dist-info" / "direct_url.json").write_text('{"url": "file:///x"}')
    before = own(venv).content
    put(site_of(venv), installed_files("helper", "1.0", {"helper.py": "x = 2"}))
    assert own(venv).content != before


def test_trials_in_different_venvs_are_different_trials():
    agent = AgentSpec(kind=AgentKind.NOOP)
    plain = TrialSpec(revision="0" * 64, index=0, key="1" * 64, agent=agent)
    here, there = (plain.model_copy(update={"venv": v * 64}) for v in "ab")
    assert len({plain.id, here.id, there.id}) == 3
    plan = Plan(tasks=((0, "1" * 64),), agents=(agent,), trials=1)
    assert plan.digest != plan.model_copy(update={"venv": "a" * 64}).digest


# The whole way

SEES = """
import importlib.metadata, os, sys
import verifiers.v1 as vf

SEEN = {
    "prefix": sys.prefix,
    "version": importlib.metadata.version("seer"),
    "file": os.path.abspath(__file__),
    "home": sorted(os.listdir(HOME)) if os.path.isdir(HOME) else [],
    "project": sorted(os.listdir(PROJECT)),
}

class Task(vf.Task[vf.TaskData]):
    @vf.reward
    async def paid(self, trace: vf.Trace) -> float:
        return 1.0

class Tasks(vf.Taskset[Task, vf.TasksetConfig]):
    def load(self):
        yield Task(vf.TaskData(prompt=repr(SEEN)), self.config.task)

__all__ = ["Tasks"]
"""


@pytest.fixture(scope="module")
def real_venv(tmp_path_factory: pytest.TempPathFactory, venvs: Path) -> Path:
    """A venv in a home, with the real verifiers, and an environment that says what it sees."""
    home = tmp_path_factory.mktemp("home")
    with make_bed(tmp_path_factory.mktemp("bed"), venvs) as bed:
        source = read_folder(EXAMPLES / "sums")
        built = bed.runner.run(ensure_venv(source, bed.app.builder)).folder
    (home / ".ssh").mkdir()
    (home / "project").mkdir()
    (home / "project" / "secret.txt").write_text("canary")
    venv = home / "project" / ".venv"
    shutil.copytree(built, venv, symlinks=True, copy_function=link_or_copy)
    places = f"HOME = {str(home)!r}\nPROJECT = {str(home / 'project')!r}\n"
    files = {"seer/__init__.py": places + SEES}
    put(next(venv.glob("lib/*/site-packages")), installed_files("seer", "1.2", files, DEPENDENCIES))
    return venv


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


@pytest.mark.slow
def test_an_installed_environment_runs_in_its_venv_and_sees_nothing_of_the_home(
    envwright, real_venv, home
):
    user = real_venv.parents[1]
    done = envwright("env", "tasks", "seer", "--venv", real_venv, "--json", HOME=str(user))
    assert done.code == 0, done.err
    seen = eval(done.lines[0]["prompt"])
    assert (seen["prefix"], seen["version"]) == (str(real_venv), "1.2")
    assert seen["file"].startswith(str(home / "revisions"))
    assert (seen["home"], seen["project"]) == (["project"], [".venv"])
    assert "building" not in done.err


@pytest.mark.slow
def test_a_folder_runs_in_a_venv_of_the_users_as_trials_of_their_own(envwright, real_venv):
    run = ("run", EXAMPLES / "sums", "--agent", "oracle", "-n", "2", "--json")
    done = envwright(*run, "--venv", real_venv)
    assert done.code == 0, done.err
    assert done.json["agents"]["oracle"]["mean_reward"] == 1.0
    built = envwright(*run)
    assert "2 trials, 0 scored already" in built.err


def test_the_same_package_is_the_same_revision_from_a_hub_and_from_a_venv(venv, tmp_path):
    put(tmp_path / "target", installed_files("sums", "0.1.0", SUMS, DEPENDENCIES))
    fetched = read_distribution(distributions(tmp_path / "target")["sums"])
    assert fetched.revision == installed(venv).revision
