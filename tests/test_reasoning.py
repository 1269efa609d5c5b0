"""`examples/reasoning`: generators that nobody here wrote, on a venv of their own."""

import pytest

from support import EXAMPLES


@pytest.mark.venv
@pytest.mark.parametrize("dataset", ["leg_counting", "countdown"])
def test_the_gold_of_a_generator_earns_all_and_nothing_earns_nothing(envwright, dataset):
    run = ("run", EXAMPLES / "reasoning", "--agent", "oracle", "--agent", "noop")
    args = ("--arg", f"dataset={dataset}", "--arg", "seed=7", "--arg", "size=5", "--json")
    done = envwright(*run, *args, timeout=600)
    assert done.code == 0, done.err
    agents = done.json["agents"]
    assert {name: row["mean_reward"] for name, row in agents.items()} == {"oracle": 1.0, "noop": 0}
    assert {row["scored"] for row in agents.values()} == {5}
