"""Chaos on PostgreSQL: as on SQLite, and the database is restarted in the middle."""

import os
import time
from dataclasses import replace

import pytest

from chaos import Chaos, crowd
from checks import check_all
from envwright.store import Store
from postgres import Postgres, serve_postgres

pytestmark = pytest.mark.chaos
SEED = int(os.environ.get("CHAOS_SEED", "1"))


@pytest.fixture
def own_postgres():
    """Nobody else's: it is restarted."""
    with serve_postgres() as server:
        yield server


def restart(server: Postgres, chaos: Chaos) -> None:
    began = time.monotonic()
    server.stop()
    server.start()
    chaos.down.append((began, time.monotonic()))


def test_a_restart_of_the_database_loses_nothing_either(envwright, tmp_path, home, own_postgres):
    url = own_postgres.new_database()
    variables = {**envwright.variables, "ENVWRIGHT_DATABASE_URL": url}
    with crowd(tmp_path, SEED) as (provider_url, log):
        store = Store(home, url)
        chaos = Chaos(replace(envwright, variables=variables), tmp_path, store, SEED, log=log)
        try:
            chaos.submit(provider_url)
            chaos.play(300, lambda chaos: restart(own_postgres, chaos))
            assert chaos.down
            check_all(chaos)
        finally:
            chaos.stop_all()
            store.close()
