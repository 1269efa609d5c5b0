"""Which tasks a run takes, and what it asks of the model: in the request, the plan and the ids."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.record import digest
from envwright.store import Store
from envwright.trial import Sampling
from envwright.trial.plan import draw
from provider import Reply, provider
from support import EXAMPLES

SAMPLING = {"temperature": 0.25, "top_p": 0.5, "reasoning_effort": "low"}
FLAGS = [
    part for name, value in SAMPLING.items() for part in (f"--{name}".replace("_", "-"), str(value))
]


@given(st.text(), st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_who_draws_more_tasks_gets_the_same_and_others(seed, count, few, many):
    few, many = sorted((few, many))
    drawn = draw(seed, count, few)
    assert drawn == sorted(set(drawn))
    assert len(drawn) == min(few, count)
    assert set(drawn) <= set(draw(seed, count, many)) <= set(range(count))


def test_seeds_draw_apart_and_every_task_has_its_chance():
    drawn = [tuple(draw(str(seed), 20, 3)) for seed in range(200)]
    assert len(set(drawn)) > 150
    assert {index for each in drawn for index in each} == set(range(20))


def test_repetitions_count_on_from_the_seed():
    assert [Sampling(seed=7).of_repetition(n).seed for n in range(3)] == [7, 8, 9]
    assert Sampling(top_p=0.5).of_repetition(3) == Sampling(top_p=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("example", ["sums", pytest.param("sums_v0", marks=pytest.mark.long)])
def test_sampling_and_a_drawn_selection_reach_the_model_and_the_plan(envwright, home, example):
    def run(url, *more):
        where = ["--endpoint", url, "-m", "fake", "--max-tokens", "64", "--json"]
        done = envwright(
            "run", str(EXAMPLES / example), *where, "-n", "2", "-r", "2", *FLAGS, *more
        )
        assert done.code == 0, done.err
        return json.loads(done.out)

    with provider(lambda body: Reply("4")) as served:
        run(served.url, "--seed", "7", "--task-seed", "hush")
        asked = list(served.requests)
        run(served.url, "--seed", "8", "--task-seed", "hush")
        assert len(served.requests) == 2 * len(asked), "another seed is another trial"
    assert len(asked) == 4
    for body in asked:
        assert {name: body[name] for name in SAMPLING} == SAMPLING
        assert body["max_tokens"] == 64
    assert sorted(body["seed"] for body in asked) == [7, 7, 8, 8]
    store = Store(home)
    try:
        plans = [
            row.plan for row in store.read(lambda c: c.exec_driver_sql("select plan from sweep"))
        ]
    finally:
        store.close()
    # One plan for each environment of a sweep.
    (first,), (second,) = (json.loads(p) if isinstance(p, str) else p for p in plans)
    assert {**first["sampling"], **SAMPLING} == first["sampling"]
    assert first["tasks"] == second["tasks"]
    assert [index for index, _ in first["tasks"]] != [0, 1], "the first ones are no draw"
    assert digest(first) != digest(second)
    assert "hush" not in json.dumps(plans)


@pytest.mark.long
def test_a_split_is_the_argument_of_that_name(envwright):
    v0 = str(EXAMPLES / "sums_v0")
    shown = envwright("env", "tasks", v0, "--split", "train", "-n", "1", "--json")
    other = envwright("env", "tasks", v0, "--arg", "split=eval", "-n", "1", "--json")
    assert shown.code == other.code == 0, shown.err + other.err
    assert json.loads(shown.out)["key"] != json.loads(other.out)["key"]
    both = envwright("env", "tasks", v0, "--split", "train", "--arg", "split=eval")
    assert (both.code, both.err.splitlines()) == (
        2,
        ["error: argument 'split' is given twice. hint: leave one of them out"],
    )
    none = envwright("env", "inspect", str(EXAMPLES / "sums"), "--split", "train")
    assert none.code == 2
    assert "split" in none.err
