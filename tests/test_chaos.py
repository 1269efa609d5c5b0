"""Chaos on SQLite: workers are killed and come back, the provider sends them away."""

import os

import pytest

from chaos import Chaos, crowd
from checks import check_all
from envwright.store import Store

pytestmark = pytest.mark.slow
SEED = int(os.environ.get("CHAOS_SEED", "1"))


def test_nothing_is_lost_or_done_twice_whatever_is_killed(envwright, tmp_path, home):
    with crowd(tmp_path, SEED) as (url, log):
        store = Store(home)
        chaos = Chaos(envwright, tmp_path, store, SEED, log=log)
        try:
            chaos.submit(url)
            stops = os.environ.get("CHAOS_STOP")
            chaos.play(300, (lambda chaos: chaos.stop(20.0)) if stops else None)
            check_all(chaos)
        finally:
            chaos.stop_all()
            store.close()
