import pytest

from provider import Reply, provider
from support import EXAMPLES, make_environment


def test_three_agents_get_the_rewards_they_deserve(envwright, tmp_path):
    root = make_environment(tmp_path)
    with provider(lambda body: Reply("3")) as served:
        done = envwright(
            *("run", root, "-m", "fake", "--endpoint", served.url, "--json"),
            *("--agent", "oracle", "--agent", "noop"),
        )
    assert done.code == 0, done.err
    agents = done.json["agents"]
    assert agents["oracle"]["mean_reward"] == 1.0
    assert agents["noop"]["mean_reward"] == 0.0
    assert agents["chat:fake"]["mean_reward"] == 0.125
    assert agents["chat:fake"]["tokens"] == {"input": 80, "output": 40, "cached": 0}
    assert agents["chat:fake"]["cost_usd"] is None


def test_the_example_describes_itself(envwright):
    done = envwright("env", "inspect", EXAMPLES / "sums", "--json")
    assert done.code == 0, done.err
    assert set(done.json) == {
        *("kind", "name", "revision", "tasks", "rewards", "metrics", "tools", "seats", "args"),
        *("judges", "world", "harness", "episodic", "staged"),
    }


@pytest.mark.slow
def test_a_real_model_is_tried_from_one_command_and_its_trials_can_be_read(envwright):
    done = envwright(
        *("run", EXAMPLES / "sums", "-m", "local/smollm2", "--agent", "oracle", "--agent", "noop"),
        *("-n", 4, "-r", 2, "--json"),
        timeout=600,
    )
    assert done.code == 0, done.err
    agents = done.json["agents"]
    assert [agents[name]["scored"] for name in agents] == [8, 8, 8]
    assert (agents["oracle"]["mean_reward"], agents["noop"]["mean_reward"]) == (1.0, 0.0)
    model = agents["chat:local/smollm2"]
    assert model["failed"] == {}
    assert model["cost_usd"] == 0.0
    assert model["tokens"]["output"] > 0
    listed = envwright("trial", "list", "--agent", "chat:local/smollm2", "--json").lines
    shown = envwright("trial", "show", listed[0]["id"], "--json").json
    (trace,) = shown["traces"]
    assert [step["role"] for step in trace["steps"]] == ["user", "assistant"]
    assert trace["calls"][0]["usage"]["output_tokens"] > 0
    assert trace["calls"][0]["seconds"] > 0
