"""What tests share: one folder of venvs, a home per test, the command line as a process."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from postgres import Postgres, serve_postgres
from support import CommandLine

ROOT = Path(__file__).resolve().parent.parent

# A busy machine is no failure of a property.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests go first: what is left for the end should be short."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def venvs() -> Path:
    """Venvs are built once per checkout: an environment of the tests depends on verifiers alone."""
    return ROOT / ".envwright" / "venvs"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL for the session; a test takes a database of its own."""
    with serve_postgres() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A state folder of the test's own."""
    return tmp_path / "state"


@pytest.fixture(scope="session")
def fresh_variables(venvs: Path) -> Callable[[Path], dict[str, str]]:
    """The variables of a fresh user: no keys, and the home that is given."""

    def variables(home: Path) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.endswith("_API_KEY") and not name.startswith("ENVWRIGHT_")
        }
        return {**kept, "ENVWRIGHT_HOME": str(home), "ENVWRIGHT_VENVS": str(venvs), "NO_COLOR": "1"}

    return variables


@pytest.fixture
def variables(home: Path, fresh_variables: Callable[[Path], dict[str, str]]) -> dict[str, str]:
    """Those of a fresh user with a home of the test's own."""
    return fresh_variables(home)


@pytest.fixture
def envwright(variables: dict[str, str], tmp_path: Path) -> CommandLine:
    """The installed command, run as a user would run it, in the test's own folder."""
    return CommandLine(variables, tmp_path)
