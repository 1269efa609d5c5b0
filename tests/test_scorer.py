"""Whatever a reward does, the others are scored, and the culprit is named with its reply."""

from pathlib import Path

import pytest

from bed import Bed, make_bed
from envwright.environment import Task
from envwright.host import Loaded
from envwright.probe.host_scorer import HostScorer
from envwright.probe.patience import Patience
from envwright.probe.scoring import Try
from support import DIALECTS, ROOT, under

CULPRIT = ROOT / "tests" / "environments" / "culprit"
SHORTLY = Patience(reply_seconds=1.5, first_seconds=10, episode_seconds=5)


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    with make_bed(tmp_path_factory.mktemp("scorer"), venvs) as made:
        yield made


@pytest.fixture(scope="module", params=list(DIALECTS))
def culprit(request, bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("culprit")
    return bed.do(bed.load(under(request.param, CULPRIT, folder)))


@pytest.fixture(scope="module")
def tasks(bed: Bed, culprit: Loaded) -> list[Task]:
    return bed.do(culprit.tasks(0, 6))


@pytest.mark.slow
def test_whoever_ends_the_process_is_named_and_the_rest_is_scored(bed, culprit, tasks):
    scorer = HostScorer(culprit, tasks, patience=SHORTLY)
    asked = ["please raise", "please interrupt", "please exit", "please loop", "please wait"]
    asked += ["please shout", "please be slow"]
    tries = [Try(0, "0"), *(Try(1, reply) for reply in asked), Try(2, "2"), Try(3, "x")]
    told = bed.do(scorer.score(tries))
    assert [told[each].reward for each in (tries[0], tries[-2], tries[-1])] == [1.0, 1.0, 0.0]
    by_reply = {each.reply: tried for each, tried in told.items() if each.index == 1}
    assert "ValueError: as it was asked to (at culprit/__init__.py:" in by_reply[asked[0]].problem
    assert "KeyboardInterrupt" in by_reply["please interrupt"].problem
    assert "exit code 7 (at culprit/__init__.py:" in by_reply["please exit"].ended
    for late in ("please loop", "please wait"):
        assert by_reply[late].late and "over 1.5 s" in by_reply[late].ended
    assert "culprit/__init__.py:" in by_reply["please loop"].ended
    assert by_reply["please shout"].written_bytes > 90 * 2**20
    assert by_reply["please be slow"].seconds > 0.2
    assert scorer.stopped is None
    assert {each.reply for each in scorer.strikes.toll.culprits} == {
        "please exit",
        "please loop",
        "please wait",
    }


@pytest.mark.slow
def test_what_a_reply_earned_is_kept_and_is_scored_anew_on_request(bed, culprit, tasks):
    scorer = HostScorer(culprit, tasks, patience=SHORTLY)
    tries = [Try(0, "please remember"), Try(1, "please remember")]
    for _ in range(2):
        told = bed.do(scorer.score([*tries, *tries]))
        assert [told[each].reward for each in tries] == [1.0, 1.0]
    assert [tried.reward for tried in bed.do(scorer.again(tries))] == [0.5, 0.5]


@pytest.mark.slow
def test_a_scorer_gives_up_on_a_reply_then_on_all_and_says_so(bed, culprit, tasks):
    patience = Patience(reply_seconds=1.5, culprits=2, of_a_reply=1)
    scorer = HostScorer(culprit, tasks, patience=patience)
    tries = [Try(index, "please die") for index in range(6)]
    told = bed.do(scorer.score([*tries, Try(0, "0")]))
    ended = [tried.ended for tried in told.values() if tried.ended is not None]
    assert len(ended) == 1 and ended[0].startswith("it was killed")
    assert told[Try(0, "0")].reward == 1.0
    assert scorer.stopped is None
    assert not bed.do(scorer.score([Try(0, "please die once more"), Try(1, "1")])).get(Try(1, "1"))
    assert "2 replies ended its process" in scorer.stopped
