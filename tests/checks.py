"""What must hold after chaos, from the store's side and from the provider's."""

import math
import time
from collections import Counter, defaultdict
from typing import Any

from chaos import LIMIT, MODELS, TASKS, TOKENS, TURNS, Chaos, still_there
from envwright.store import schema
from envwright.store.trial import LOST_ATTEMPTS

SAME_WORKER_SECONDS = 0.2
"""Between the kernel's reading and its being understood."""
OTHER_WORKER_SECONDS = 2.0
TICK_SECONDS = 0.02
"""As exact as the kernel is about when bytes came."""
LAST_BREATH_SECONDS = 0.5
LEDGER_SECONDS = 2.0
"""The ledger is written soon, and not waited for: on a busy machine this is late."""


def check_all(chaos: Chaos) -> None:
    assert [code for _, code in chaos.ended] == [0] * len(chaos.ended), chaos.errors()
    # Who found no database when it began says so in a line, and had not begun.
    assert len(chaos.errors()) == len(chaos.refused), chaos.errors()
    assert not {each.pid for each in chaos.requests()} & set(chaos.refused)
    assert chaos.kills, "nothing was killed"
    check_outcomes(chaos)
    check_attempts(chaos)
    check_spending(chaos)
    check_waits(chaos)
    check_orphans(chaos)


def names(chaos: Chaos) -> dict[str, tuple[str, int]]:
    """Trial → its model, and the number of its task, which the provider sees."""
    return {
        row.id: (row.agent.removeprefix("chat:").partition("/")[2], row.task_index)
        for row in chaos.rows(schema.trial)
    }


def check_outcomes(chaos: Chaos) -> None:
    trials = chaos.rows(schema.trial)
    assert len(trials) == TASKS * len(MODELS)
    outcomes = Counter((row.outcome, row.reward) for row in trials)
    # A trial that took three workers with it is given up, and three kills may hit the same one.
    assert outcomes.keys() <= {("scored", 1.0), ("failed", None)}, outcomes
    jobs = chaos.rows(schema.job)
    assert Counter((row.kind, row.state) for row in jobs) == {
        ("trial", "done"): len(trials),
        ("sweep", "done"): 1,
    }
    (sweep,) = chaos.rows(schema.sweep)
    assert (sweep.id, sweep.state) == (chaos.sweep, "done")


def check_attempts(chaos: Chaos) -> None:
    """One is final and scored; those before it were lost with a worker, or sent away.

    Who was stopped and wakes up may end what it ran by itself, before somebody else does.
    """
    attempts, grades = defaultdict(list), defaultdict(list)
    for row in chaos.rows(schema.attempt):
        attempts[row.trial].append(row)
    for row in chaos.rows(schema.grade):
        grades[row.trial, row.attempt].append(row.outcome)
    gone = {kill.pid for kill in chaos.kills} | chaos.stopped.keys()
    for trial in chaos.rows(schema.trial):
        own = sorted(attempts[trial.id], key=lambda row: row.n)
        assert [row.n for row in own] == list(range(1, len(own) + 1))
        for row in own:
            pid = int(row.worker.partition("~")[0].rsplit(":", 2)[1])
            outcomes = grades[trial.id, row.n]
            if row.state == "lost":
                assert pid in gone, row
                assert not outcomes
                assert row is not own[-1] or is_given_up(trial, own)
                continue
            if row.state == "cancelled":
                assert pid in chaos.stopped, row
                continue
            assert row.state == "finished", row
            (outcome,) = outcomes
            if row is own[-1]:
                assert outcome["kind"] == "scored"
            else:
                assert (outcome["kind"], outcome["fault"]) == ("failed", "rate_limited"), outcome
    running = [row for rows in attempts.values() for row in rows if row.state == "running"]
    assert not running


def is_given_up(trial: Any, attempts: list[Any]) -> bool:
    lost = [row.state for row in attempts[-LOST_ATTEMPTS:]] == ["lost"] * LOST_ATTEMPTS
    return lost and (trial.outcome, trial.cause) == ("failed", "ours")


def check_spending(chaos: Chaos) -> None:
    """Every answer is in the ledger, once; only the last ones to a killed worker may miss."""
    known = names(chaos)
    counted = Counter(known[row.trial] for row in chaos.rows(schema.model_call) if row.input_tokens)
    answered: Counter[tuple[str, int]] = Counter()
    certain: Counter[tuple[str, int]] = Counter()
    died = {kill.pid: kill.at for kill in chaos.kills}
    for each in chaos.requests():
        if each.status == 200:
            answered[each.trial] += 1
            lives_on = died.get(each.pid or 0, math.inf) - each.answered
            certain[each.trial] += lives_on > LEDGER_SECONDS
    twice = {trial: n for trial, n in counted.items() if n > answered[trial]}
    assert not twice, twice
    missing = {trial: n for trial, n in certain.items() if counted[trial] < n}
    assert not missing, missing
    scored = [known[row.id] for row in chaos.rows(schema.trial) if row.outcome == "scored"]
    assert min(counted[trial] for trial in scored) >= TURNS
    (sweep,) = chaos.rows(schema.sweep)
    # A call may be answered after its attempt was taken for lost, and settled.
    late = TOKENS * TURNS * LIMIT * len(MODELS) if chaos.stopped else 0
    assert 0 <= TOKENS * counted.total() - sweep.spent_tokens <= late


def check_waits(chaos: Chaos) -> None:
    """From the provider's side: who was told to wait does, and soon all the others too."""
    requests = chaos.requests()
    silent: defaultdict[int | None, list[float]] = defaultdict(list)
    for each in [*chaos.kills, *chaos.stops]:
        silent[each.pid].append(each.at)
    assert {each.status for each in requests} >= {200, 429}
    assert {each.said.split()[1] for each in requests if each.status == 429} > {"0"}
    early = []
    for told in requests:
        if told.status != 429 or told.read is None:
            continue
        # With its last breath: nobody else can know.
        last = any(0 < at - told.read < LAST_BREATH_SECONDS for at in silent[told.pid])
        for each in requests:
            own = each.pid == told.pid is not None
            since = told.read + (SAME_WORKER_SECONDS if own else OTHER_WORKER_SECONDS)
            until = told.answered + told.wait - TICK_SECONDS
            inside = each.model == told.model and since < each.at < until
            if inside and (own or not last):
                early.append((f"{each.at - told.read:.2f} s after", told, each))
    assert not early, f"{len(early)} began too early, the first of them {early[0]}"


def check_orphans(chaos: Chaos) -> None:
    deadline = time.monotonic() + 5
    while left := [pid for tree in chaos.trees for pid in still_there(tree)]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.1)
