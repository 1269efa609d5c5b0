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
    }
