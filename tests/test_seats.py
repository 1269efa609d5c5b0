"""Episodes of several seats: one is measured, the others are played by whom it was said."""

from pathlib import Path

import pytest

from bed import Bed, make_bed
from envwright.agent import AgentKind, AgentSpec
from envwright.agent.script import Script, read_script
from envwright.environment import Environment, Judge, Kind, TaskCount
from envwright.errors import Cause, UsageError
from envwright.host import Loaded
from envwright.model import Model, Protocol
from envwright.trial import TrialSpec
from envwright.trial.plan import Plan
from envwright.trial.seat import check_judge, seat_all
from provider import Answer, Provider, Reply, provider
from support import EXAMPLES, ROOT

ENVIRONMENTS = ROOT / "tests" / "environments"
HASH = "0" * 64
ONE = ("agent",)
TALK = ("assistant", "user")
GAME = ("white", "black", "referee")


def model(name: str, **more: object) -> Model:
    return Model(name=name, base_url="http://127.0.0.1", model=name, **more)


def environment(seats: tuple[str, ...], judges: tuple[Judge, ...] = ()) -> Environment:
    tasks = TaskCount(count=1, infinite=False)
    made = Environment(
        kind=Kind.VERIFIERS, name="e", revision=HASH, tasks=tasks, seats=seats, judges=judges
    )
    world = tuple(seat for seat in seats if seat in ("user", "referee"))
    return made.model_copy(update={"world": world})


@pytest.mark.parametrize(
    ("seats", "asked", "given", "judge", "measured", "played"),
    [
        (ONE, None, (), None, "agent", {}),
        (ONE, "agent", (), None, "agent", {}),
        (TALK, None, (), "j", "assistant", {"user": "j"}),
        (TALK, None, ("user",), None, "assistant", {"user": "user's"}),
        (TALK, None, ("user",), "j", "assistant", {"user": "user's"}),
        (TALK, "user", (), None, "user", {}),
        (GAME, "black", (), "j", "black", {"referee": "j"}),
        (GAME, "white", ("black",), "j", "white", {"black": "black's", "referee": "j"}),
    ],
)
def test_a_player_is_played_by_the_agent_and_the_world_by_a_model_of_its_own(
    seats, asked, given, judge, measured, played
):
    models = {name: model(f"{name}'s") for name in given}
    seating = seat_all(environment(seats), asked, models, model(judge) if judge else None)
    assert seating.measured == measured
    assert {name: each.name for name, each in seating.played.items()} == played


@pytest.mark.parametrize(
    ("seats", "asked", "given", "judge", "words"),
    [
        (GAME, None, {}, model("j"), "several seats that could be measured: white, black"),
        (GAME, "green", {}, model("j"), "has no seat 'green'. hint: it has white, black, referee"),
        (("environment",), None, {}, model("j"), "has a seat named 'environment'"),
        (TALK, None, {}, None, "give one with --judge MODEL, or --seat-model user=MODEL"),
        (TALK, None, {"usher": model("u")}, None, "--seat-model: environment 'e' has no seat"),
        (TALK, None, {"assistant": model("u")}, None, "the agent plays that seat"),
        (
            TALK,
            None,
            {},
            model("j", protocols=(Protocol.ANTHROPIC,)),
            "seat 'user' speaks openai-chat, and model 'j' speaks anthropic",
        ),
    ],
)
def test_a_seat_that_is_ambiguous_unknown_or_empty_is_refused(seats, asked, given, judge, words):
    with pytest.raises(UsageError) as refused:
        seat_all(environment(seats), asked, given, judge)
    assert words in str(refused.value)


def test_a_known_judge_without_a_model_is_refused():
    judged = environment(ONE, (Judge(name="tone", model="some/model"),))
    with pytest.raises(UsageError, match=r"asks a judge \('tone'\).* --judge"):
        check_judge(judged, None)
    check_judge(judged, model("j"))
    check_judge(environment(ONE), None)


def test_who_plays_is_part_of_a_trial():
    plain = TrialSpec(revision=HASH, index=0, key=HASH, agent=AgentSpec(kind=AgentKind.NOOP))
    seated = [
        plain.model_copy(update=update)
        for update in ({"seat": "a"}, {"seat": "b"}, {"played": {"b": HASH}}, {})
    ]
    assert len({spec.id for spec in seated}) == 4
    plans = [
        Plan(tasks=(), agents=(), trials=1, **more)
        for more in ({}, {"seat": "a"}, {"seat": "a", "played": {"b": HASH}})
    ]
    assert len({plan.digest for plan in plans}) == 3


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    with make_bed(tmp_path_factory.mktemp("seats"), venvs) as made:
        yield made


@pytest.fixture(scope="module")
def game(bed: Bed) -> Loaded:
    return bed.do(bed.load(ENVIRONMENTS / "seated"))


@pytest.fixture(scope="module")
def served():
    with provider() as made:
        yield made


def answering(served: Provider, answer: Answer) -> Provider:
    served.answer = answer
    served.requests.clear()
    return served


def at(served: Provider, name: str) -> Model:
    return Model(name=name, base_url=served.url, model=name)


def script_of(folder: Path, text: str) -> Script:
    path = folder / "script.json"
    path.write_text(text)
    return read_script(path)


@pytest.mark.slow
def test_each_seat_asks_its_own_model_and_the_episode_decides_the_reward(
    bed: Bed, game: Loaded, served: Provider
):
    assert game.environment.seats == ("white", "black", "referee")
    assert game.environment.world == ("referee",)
    answering(served, lambda body: Reply("black wins" if body["model"] == "judge" else "I say 0"))
    agent, judge, other = at(served, "agent"), at(served, "judge"), at(served, "other")

    def play(seat: str, **more: Model):
        return bed.do(bed.sweep(game, [0], model=agent, judge=judge, seat=seat, seats=more))[0]

    white, black = play("white").scored, play("black").scored
    assert (white.reward, black.reward) == (0.5, 1.0)
    assert set(white.rewards) == {"said", "won"}
    apart = bed.result.agents["chat:agent"].apart
    assert {seat: (s.input, s.output) for seat, s in apart.items()} == {"referee": (10, 5)}
    assert bed.result.agents["chat:agent"].tokens.input == 20
    served.requests.clear()
    told = play("black", white=other)
    assert [body["model"] for body in served.requests] == ["other", "agent", "judge"]
    traces = {trace.seat: trace for trace in bed.traces(told)}
    assert [seat for seat, trace in traces.items() if trace.measured] == ["black"]
    assert {seat: [c.model for c in trace.calls] for seat, trace in traces.items()} == {
        "white": ["other"],
        "black": ["agent"],
        "referee": ["judge"],
    }


@pytest.mark.slow
def test_a_part_of_the_world_that_was_not_answered_spoils_the_trial(
    bed: Bed, game: Loaded, served: Provider
):
    def answer(body):
        too_long = b'{"error": {"code": "context_length_exceeded", "message": "too long"}}'
        return Reply(status=400, body=too_long) if body["model"] == "judge" else Reply("0")

    answering(served, answer)
    agent, judge = at(served, "agent"), at(served, "judge")
    told = bed.do(bed.sweep(game, [0], model=agent, judge=judge, seat="white"))[0]
    assert told.failed.cause is Cause.PROVIDER


@pytest.mark.slow
def test_a_script_plays_every_player_from_its_beginning(
    bed: Bed, game: Loaded, served: Provider, tmp_path: Path
):
    answering(served, lambda body: Reply("white wins"))
    script = script_of(tmp_path, '["0", "then nothing"]')
    judge = at(served, "judge")
    for seat, reward in (("white", 1.0), ("black", 0.5)):
        told = bed.do(bed.sweep(game, [0], script=script, judge=judge, seat=seat))[0]
        assert told.scored.reward == reward


@pytest.mark.slow
def test_a_comparison_that_raises_is_a_grader_that_failed(bed: Bed, served: Provider):
    answering(served, lambda body: Reply("white wins"))
    args = {"env.breaks": "finalize"}
    breaking = bed.do(bed.load(ENVIRONMENTS / "seated", **args))
    told = bed.do(bed.sweep(breaking, [0], judge=at(served, "judge"), seat="white"))[0]
    assert told.failed.cause is Cause.GRADER
    assert "LookupError: a comparison of the environment's" in told.failed.detail
    # A reply alone never comes before the Env's own judgement, and that is said.
    (scored,) = bed.do(breaking.score([{"index": 0, "reply": "0"}], 60))
    assert (scored.rewards["said"].score, scored.skipped) == (1.0, ("Game.finalize",))


@pytest.mark.slow
def test_tries_of_one_trial_count_by_their_mean(bed: Bed, served: Provider, tmp_path: Path):
    sums = bed.do(bed.load(EXAMPLES / "sums", **{"env.id": "best_of_n", "env.n": 4}))
    assert {"env.id", "env.n", "env.threshold"} <= {a.name for a in sums.environment.args}
    task = bed.do(sums.tasks(0, 1))[0]
    right = [Reply(task.row["answer"]), Reply("0"), Reply("0"), Reply("0")]
    answering(served, lambda body: right[(len(served.requests) - 1) % 4])
    told = bed.do(bed.sweep(sums, [0], model=at(served, "agent")))[0]
    assert told.scored.reward == 0.25
    assert told.scored.rewards["correct"].score == 0.25
    assert told.scored.metrics["pass_at_n"] == 1.0
    traces = bed.traces(told)
    assert sorted(t.rewards["correct"].score for t in traces) == [0.0, 0.0, 0.0, 1.0]
    assert all(trace.measured for trace in traces)
    script = script_of(tmp_path, f'["{task.row["answer"]}", "then nothing"]')
    assert bed.do(bed.sweep(sums, [0], script=script))[0].scored.reward == 1.0


@pytest.mark.slow
def test_a_simulated_user_talks_and_code_checks_the_result(bed: Bed, served: Provider):
    booking = bed.do(bed.load(EXAMPLES / "user_sim"))
    task = bed.do(booking.tasks(0, 1))[0]
    done = [Reply("I want a table."), Reply("###DONE###")]

    def answer(body):
        if body["model"] == "agent":
            return Reply(f"Certainly.\n{task.row['answer']}")
        guests = sum(request["model"] == "user" for request in served.requests)
        return done[(guests - 1) % 2]

    answering(served, answer)
    agent, user = at(served, "agent"), at(served, "user")
    told = bed.do(bed.sweep(booking, [0], model=agent, seats={"user": user}))[0]
    assert (told.scored.reward, told.scored.metrics["user_turns"]) == (1.0, 2.0)
    assert told.scored.stop == "environment"
    traces = {trace.seat: trace for trace in bed.traces(told)}
    assert (traces["user"].rewards, traces["user"].measured) == ({}, False)
    answering(served, lambda body: Reply("I want a table."))
    talked = bed.do(bed.sweep(booking, [0], seats={"user": user}))[0]
    # The guest's own cap of turns holds below ours.
    assert (talked.scored.reward, talked.scored.metrics["user_turns"]) == (0.0, 4.0)
