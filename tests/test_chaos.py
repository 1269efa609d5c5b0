"""Chaos on SQLite: workers are killed and come back, one sleeps, the provider sends them away."""

import os

import pytest

from chaos import Chaos, crowd
from checks import check_all
from envwright.store import Store

pytestmark = pytest.mark.chaos
SEED = int(os.environ.get("CHAOS_SEED", "1"))
ASLEEP_SECONDS = 15.0
"""Long enough to be taken for dead."""


def test_nothing_is_lost_or_done_twice_whatever_is_killed(envwright, tmp_path, home):
    with crowd(tmp_path, SEED) as (url, log):
        store = Store(home)
        chaos = Chaos(envwright, tmp_path, store, SEED, log=log)
        try:
            chaos.submit(url)
            chaos.play(300, lambda chaos: chaos.stop(ASLEEP_SECONDS))
            assert chaos.stops
            check_all(chaos)
        finally:
            chaos.stop_all()
            store.close()
