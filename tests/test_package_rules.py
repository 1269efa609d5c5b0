# ruff: noqa: E501 - tables of sources and rows, one to a line
import signal
from collections.abc import Mapping

import pytest

from envwright.environment import Task
from envwright.environment.egress import Egress, Mode
from envwright.environment.source import read_folder
from envwright.finding import Severity, SourceCitation, check_citation
from envwright.probe import reading
from envwright.probe.found import Place
from envwright.probe.package import (
    RULES,
    Installed,
    Package,
    failure_report,
    load_reports,
    package_reports,
    read_package,
)
from envwright.probe.reading import bounded
from envwright.probe.rule import Extent, Report

PLACE = Place("birds", "birds")

PYPROJECT = """\
[project]
name = "birds"
version = "0.1.0"
description = "Name the bird from its song"
tags = ["audio", "eval"]
dependencies = ["verifiers"]

[tool.hatch.build.targets.wheel]
packages = ["birds"]
"""
README = "# birds\n\nAsks for the name of a bird and pays 1.0 for the right one.\n"
INSTALLED = Installed(
    {
        "verifiers": frozenset({"verifiers"}),
        "pydantic": frozenset({"pydantic"}),
        "datasets": frozenset({"datasets"}),
        "numpy": frozenset({"numpy"}),
        "yaml": frozenset({"pyyaml"}),
        "google": frozenset({"protobuf", "google-auth"}),
        "sympy": frozenset({"sympy"}),
    },
    {"verifiers": frozenset({"pydantic", "numpy"})},
)


def package(
    code: str = "",
    *,
    pyproject: str = PYPROJECT,
    readme: str | None = README,
    dependencies: tuple[str, ...] = ("verifiers",),
    files: Mapping[str, str] | None = None,
) -> Package:
    texts = {"pyproject.toml": pyproject, "birds/__init__.py": code, **(files or {})}
    if readme is not None:
        texts["README.md"] = readme
    return Package("birds", "birds", texts, dependencies)


def found(reports: list[Report], *, least: Severity = Severity.WARN) -> list[str]:
    """The defects that are reported with at least this severity."""
    order = list(Severity)
    defects = {rule.id: rule.defect for rule in RULES}
    return [
        defects[finding.rule]
        for report in reports
        for finding in report.findings
        if order.index(finding.severity) >= order.index(least)
    ]


def read(code: str = "", **changes: object) -> list[str]:
    given = package(code, **changes)  # type: ignore[arg-type]
    reports = package_reports(given, PLACE, installed=INSTALLED)
    for report in reports:
        for finding in report.findings:
            for citation in finding.citations:
                assert isinstance(citation, SourceCitation)
                assert check_citation(citation, given.files[citation.path]), citation
    return found(reports)


def test_a_module_that_is_too_large_or_too_deep_is_not_called_clean(tmp_path):
    (tmp_path / "birds").mkdir()
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "birds" / "__init__.py").write_text("import verifiers\n")
    (tmp_path / "birds" / "big.py").write_text("# " + "x" * 2**20)
    read = read_package(read_folder(tmp_path))
    assert read.code.unparsed == ("birds/big.py",)
    reports = {each.rule: each for each in package_reports(read, PLACE, installed=INSTALLED)}
    assert reports["EW105"].extent is Extent.UNFINISHED
    assert "big.py" in reports["EW105"].reason


def test_reading_ends_however_long_or_deep_the_source_is():
    def deep(n: int) -> int:
        return deep(n + 1)

    def long() -> str:
        while True:
            pass

    assert bounded(lambda: "read", str) == "read"
    assert bounded(lambda: str(deep(0)), str) == "its source is too deep to be followed"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "SECONDS", 0.2)
        assert bounded(long, str) == "reading its source took over 0.2 s"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_complete_package_has_no_findings():
    reports = package_reports(package("import verifiers as vf\n"), PLACE, installed=INSTALLED)
    assert found(reports, least=Severity.WARN) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('description = "Name the bird from its song"\n', ""),
        ('"Name the bird from its song"', '""'),
        ('"Name the bird from its song"', '"Add your description here"'),
        ('"Name the bird from its song"', '"Your environment description here"'),
        ('"Name the bird from its song"', '"TODO"'),
        ('"Name the bird from its song"', '"birds"'),
        ('version = "0.1.0"\n', ""),
        ('tags = ["audio", "eval"]\n', ""),
        ('tags = ["audio", "eval"]', "tags = []"),
        ('tags = ["audio", "eval"]', 'tags = ["placeholder-tag", "train", "eval"]'),
        ('tags = ["audio", "eval"]', 'tags = ["tag1", "tag2"]'),
    ],
)
def test_what_a_registry_wants_is_missed(old: str, new: str):
    assert old in PYPROJECT
    assert read(pyproject=PYPROJECT.replace(old, new)) == ["missing-metadata"]


@pytest.mark.parametrize(
    "readme",
    [
        None,
        "",
        "# birds\n",
        "# birds\n\nTODO\n",
        "# birds\n\n> Replace the placeholders below.\n\n### Overview\n- **Short description**: "
        "<one-sentence description>\n- **Tags**: <list of tags>\n- **Source**: <links>\n",
    ],
)
def test_a_readme_that_says_nothing_is_missed(readme: str | None):
    assert read(readme=readme) == ["missing-metadata"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Name the bird from its song"', '"Bird songs"'),
        ('tags = ["audio", "eval"]', 'keywords = ["audio"]'),
        ('version = "0.1.0"', 'dynamic = ["version"]'),
        ('packages = ["birds"]', 'include = ["birds/**"]'),
        ('packages = ["birds"]', 'packages = ["src/birds"]'),
        ('[tool.hatch.build.targets.wheel]\npackages = ["birds"]\n', ""),
    ],
)
def test_short_or_elsewhere_is_enough(old: str, new: str):
    assert old in PYPROJECT
    assert read(pyproject=PYPROJECT.replace(old, new)) == []


def test_a_short_readme_is_enough():
    assert read(readme="Name the bird. One point for the right name.") == []


def test_a_module_that_is_not_built_is_named():
    assert read(pyproject=PYPROJECT.replace('["birds"]\n', '["bird"]\n')) == ["missing-metadata"]


@pytest.mark.parametrize(
    "code",
    [
        "import yaml\n",
        "from yaml import safe_load\n",
        "def load():\n    import yaml\n    return yaml\n",
        "import sympy\n",
        "import importlib\nimportlib.import_module('yaml')\n",
        "import google.auth\n",
        "try:\n    import yaml\nexcept ValueError:\n    yaml = None\n",
        "try:\n    import yaml\nexcept ImportError as error:\n    raise SystemExit('!') from error\n",
        "import notinstalled\n",
    ],
)
def test_an_undeclared_import_is_found(code: str):
    assert read(code) == ["undeclared-dependency"]


@pytest.mark.parametrize(
    "code",
    [
        "import os, sys, json\nfrom collections import abc\n",
        "import verifiers.v1 as vf\nfrom pydantic import Field\n",
        "from datasets import Dataset\n",
        "import numpy as np\n",
        "from .helper import x\nfrom birds.helper import x\n",
        "try:\n    import yaml\nexcept ImportError:\n    yaml = None\n",
        "try:\n    import yaml\nexcept Exception:\n    yaml = None\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n",
        "import typing\nif typing.TYPE_CHECKING:\n    import numpy\n",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import yaml\n",
        "# import yaml\nTEXT = 'import yaml'\n",
        "from importlib.util import find_spec\nif find_spec('yaml'):\n    import yaml\n",
    ],
)
def test_an_import_that_is_no_dependency_is_left_alone(code: str):
    assert read(code) == []


@pytest.mark.parametrize(
    ("code", "dependencies"),
    [
        ("import yaml\n", ("verifiers", "PyYAML>=6")),
        ("import google.auth\n", ("verifiers", "google_auth")),
        ("import sympy\n", ("verifiers", "sympy==1.13")),
    ],
)
def test_a_declared_import_is_left_alone(code: str, dependencies: tuple[str, ...]):
    assert read(code, dependencies=dependencies) == []


def test_an_import_of_something_that_is_not_installed_fails():
    reports = package_reports(package("import nowhere\n"), PLACE, installed=INSTALLED)
    assert found(reports, least=Severity.FAIL) == ["undeclared-dependency"]


def test_a_dependency_that_is_never_imported_is_a_note():
    given = package("import verifiers\n", dependencies=("verifiers", "sympy"))
    reports = package_reports(given, PLACE, installed=INSTALLED)
    assert found(reports, least=Severity.INFO).count("unused-dependency") == 1
    assert found(reports) == []


def test_tests_beside_the_package_are_not_read():
    assert (
        read("", files={"tests/test_birds.py": "import numpy\n", "conftest.py": "import yaml"})
        == []
    )


FETCHES = [
    "import requests\nWORDS = requests.get('https://example.org/words').text\n",
    "from urllib.request import urlopen\ndef load():\n    return urlopen('https://a.example/x')\nx = load\n",
    "import urllib.request as r\ndef load():\n    r.urlretrieve(URL, 'x')\nx = load\nURL = 'http://b.example'\n",
    "import httpx\nclass T:\n    async def load(self):\n        async with httpx.AsyncClient() as c:\n"
    "            return await c.get('https://c.example')\n",
    "from datasets import load_dataset\ndef load_environment():\n    return load_dataset('openai/gsm8k')\n",
    "import pandas as pd\nROWS = pd.read_csv('https://d.example/rows.csv')\n",
    "import socket\ndef f():\n    return socket.create_connection(('e.example', 80))\ng = f\n",
    "import subprocess\nsubprocess.run(['curl', '-sO', 'https://f.example'])\n",
    "from huggingface_hub import hf_hub_download\nP = hf_hub_download('a/b', 'c')\n",
]


@pytest.mark.parametrize("code", FETCHES)
def test_a_network_that_nobody_declared_is_found(code: str):
    assert "undeclared-network" in read(code, dependencies=EVERYTHING)


EVERYTHING = ("verifiers", "requests", "httpx", "pandas", "huggingface_hub", "aiohttp")


@pytest.mark.parametrize("code", FETCHES)
@pytest.mark.parametrize(
    "readme", ["It downloads its words when it is loaded.", "Needs network access at load time."]
)
def test_a_network_that_readme_names_is_left_alone(code: str, readme: str):
    assert "undeclared-network" not in read(code, readme=readme, dependencies=EVERYTHING)


def test_a_readme_that_denies_a_network_does_not_declare_one():
    code = FETCHES[0]
    assert "undeclared-network" in read(
        code, readme="Plays a word game. No network is needed.", dependencies=EVERYTHING
    )


def test_a_network_that_the_settings_permit_is_left_alone():
    given = package(FETCHES[0], dependencies=EVERYTHING)
    opened = Egress(mode=Mode.OPEN)
    for permit in ({"egress": opened}, {"prepare": opened}):
        assert "undeclared-network" not in found(package_reports(given, PLACE, **permit))


@pytest.mark.parametrize(
    "code",
    [
        "SOURCE = 'https://example.org/words'\n",
        '"""Words from https://example.org/words."""\n',
        "from openai import AsyncOpenAI\nC = AsyncOpenAI(base_url='https://api.openai.com/v1')\n",
        "import httpx\nR = httpx.post('https://api.x.example/v1/chat/completions', json={})\n",
        "import requests\nR = requests.get('http://localhost:8000/x')\n",
        "import socket\nS = socket.create_connection(('127.0.0.1', 80))\n",
        "from datasets import load_dataset\nD = load_dataset('json', data_files='rows.jsonl')\n",
        "import requests\ndef nobody_calls_this():\n    return requests.get('https://x.example')\n",
        "from urllib.parse import urlparse\nU = urlparse('https://x.example')\n",
        "def get(url):\n    return {}[url]\nX = {}.get('key')\n",
        "PROMPT = 'Use curl https://x.example to fetch'\n",
    ],
)
def test_what_only_looks_like_a_network_is_left_alone(code: str):
    assert "undeclared-network" not in read(code, dependencies=EVERYTHING)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nX = os.environ['GRADER_STRICT']\n",
        "import os\nX = os.environ.get('GRADER_STRICT')\n",
        "import os\nX = os.getenv('GRADER_STRICT', '0') == '1'\n",
        "from os import environ\nX = environ.get('GRADER_STRICT', '')\n",
        "from os import getenv as g\nX = g('GRADER_STRICT')\n",
        "import os\nNAME = 'GRADER_STRICT'\nX = os.environ.get(NAME)\n",
        "import os\nX = 'GRADER_STRICT' in os.environ\n",
        "import os\nENV = os.environ\nX = ENV.get('GRADER_STRICT')\n",
        "import os\ndef flag(name, default=''):\n    return os.environ.get(name, default) == '1'\nX = flag('GRADER_STRICT')\n",
        "import os\nclass A:\n    def flag(self, name):\n        return os.environ[name]\n\ndef on(key):\n    return os.getenv(key)\nX = on(key='GRADER_STRICT')\n",
    ],
)
def test_a_variable_that_nobody_names_is_found(code: str):
    assert read(code) == ["undeclared-variable"]
    assert read(code, readme=README + "\nSet `GRADER_STRICT=1` to refuse near misses.\n") == []
    given = package_reports(package(code), PLACE, secrets=("GRADER_STRICT",))
    assert "undeclared-variable" not in found(given)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nX = os.environ['HOME']\n",
        "import os\nX = os.getenv('OPENAI_API_KEY')\n",
        "import os\nos.environ['TOKENIZERS_PARALLELISM'] = 'false'\n",
        "import os\nos.environ.setdefault('X_Y', '1')\n",
        "import os\nX = os.getenv('BIRDS_LOG_LEVEL', 'INFO')\n",
        "import os\ndef f(name):\n    return os.environ[name]\n",
        "environ = {}\nX = environ['GRADER_STRICT']\n",
    ],
)
def test_a_variable_that_decides_nothing_is_left_alone(code: str):
    assert read(code) == []


def task(index: int, **row: object) -> Task:
    prompt = str(row.get("prompt", f"question {index}"))
    return Task(index=index, key=f"{index:064x}", prompt=prompt, row={"prompt": prompt, **row})


TASKS = [task(i, answer=str(i)) for i in range(6)]
KEYS = [each.key for each in TASKS]


@pytest.mark.parametrize(
    "second", [KEYS[::-1], KEYS[:-1], [*KEYS[:-1], "f" * 64], [*KEYS, KEYS[0]], []]
)
def test_a_load_that_differs_is_not_deterministic(second: list[str]):
    code = "import random\nrows = list(range(9))\nrandom.shuffle(rows)\n"
    reports = load_reports(package(code), TASKS, (KEYS, second), PLACE)
    assert found(reports) == ["load-not-deterministic"]
    assert any(f.citations[0].quote == "random.shuffle(rows)" for r in reports for f in r.findings)


def test_a_load_that_repeats_is_deterministic():
    assert found(load_reports(package(), TASKS, (KEYS, list(KEYS)), PLACE)) == []
    assert found(load_reports(package(), TASKS, "it raised", PLACE)) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def load_environment():\n    return [p.read_text() for p in HERE.glob('*.txt')]\n", True),
        (
            "def rows():\n    for name in os.listdir(HERE):\n        yield name\n\nclass T:\n    def load(self):\n        return rows()\n",
            True,
        ),
        (
            "def load():\n    found = []\n    for i, p in enumerate(HERE.iterdir()):\n        found.append(p)\n    return found\n",
            True,
        ),
        ("def load():\n    return random.Random(date.today().toordinal()).sample(POOL, 5)\n", True),
        ("def load():\n    random.seed(os.getpid())\n", True),
        ("def load():\n    return [p.read_text() for p in sorted(HERE.glob('*.txt'))]\n", False),
        (
            "def load():\n    rows = [p.stem for p in HERE.glob('*.txt')]\n    rows.sort()\n    return rows\n",
            False,
        ),
        (
            "def load():\n    pages = {p.stem: p.read_text() for p in HERE.glob('*.txt')}\n    return [pages[n] for n in NAMES]\n",
            False,
        ),
        (
            "def load():\n    pages = {}\n    for p in HERE.iterdir():\n        pages[p.stem] = p\n    return pages\n",
            False,
        ),
        (
            "def tool():\n    return [p.name for p in HERE.iterdir()]\ndef load():\n    return 1\n",
            False,
        ),
        ("def load(seed=0):\n    return random.Random(seed).sample(POOL, 5)\n", False),
        ("def load():\n    begun = time.time()\n    print(time.time() - begun)\n", False),
    ],
)
def test_an_order_that_only_another_machine_shows_is_read_from_the_source(
    code: str, expected: bool
):
    imports = "import os, random, time\nfrom datetime import date\n"
    reports = load_reports(package(imports + code), TASKS, (KEYS, list(KEYS)), PLACE)
    assert found(reports) == (["load-not-deterministic"] if expected else [])


def test_no_tasks_is_a_failure():
    assert found(load_reports(package(), [], ([], []), PLACE)) == ["no-tasks"]


def test_a_field_of_two_types_is_a_note():
    tasks = [*TASKS, task(7, answer=7)]
    reports = load_reports(package(), tasks, "it raised", PLACE)
    assert found(reports) == []
    assert found(reports, least=Severity.INFO) == ["rows-of-other-shapes"]


@pytest.mark.parametrize(
    ("failure", "defect"),
    [
        ("Traceback …\nModuleNotFoundError: No module named 'yaml'", "undeclared-dependency"),
        (
            '  File "/r/birds/__init__.py", line 1\n    os.environ["A_B"]\nKeyError: \'A_B\'',
            "undeclared-variable",
        ),
        ("httpx.ConnectError: [Errno -2] Name or service not known", "undeclared-network"),
        ("ValueError: bad rows", "does-not-load"),
    ],
)
def test_a_failure_to_load_is_called_by_its_cause(failure: str, defect: str):
    reports = failure_report(package("rows = 1\n"), failure, PLACE)
    assert found(reports, least=Severity.FAIL) == [defect]
