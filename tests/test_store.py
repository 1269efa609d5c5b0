import asyncio
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import StatementError

from envwright.agent import AgentKind, AgentSpec, Assignment
from envwright.budget import Spending
from envwright.environment import Environment, Task
from envwright.errors import Cause, EnvwrightError, UsageError
from envwright.gateway import Gateway
from envwright.queue import JobState
from envwright.queue.state import Worker
from envwright.record import digest
from envwright.store import Store, schema
from envwright.store import result as results
from envwright.store import sweep as sweeps
from envwright.store import trial as trials
from envwright.store import worker as workers
from envwright.store.call import insert_calls
from envwright.store.engine import (
    RELEASE_OF_SCHEMA,
    CommitUnknown,
    connect,
    open_sqlite,
    upgrade,
    writing,
)
from envwright.store.job import row_of
from envwright.store.sweep import NewSweep
from envwright.trace import ModelCall, Score, Usage
from envwright.trial import Failed, Grade, Limits, Scored
from envwright.trial.attempt import Attempt, AttemptState
from envwright.trial.part import Part
from envwright.trial.plan import Plan, trials_of
from envwright.trial.run import Bench, run
from envwright.work.trial import Order, TrialWork, job_of
from envwright.work.worker import is_gone, worker_name
from postgres import serve_postgres

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REVISION = digest("revision")
ENVIRONMENT = Environment.model_validate(
    {
        "kind": "verifiers",
        "name": "probe",
        "revision": REVISION,
        "tasks": {"count": 2, "infinite": False},
    }
)
TASKS = [Task(index=i, key=digest(str(i)), prompt="?", row={"answer": i}) for i in range(2)]
AGENTS = (AgentSpec(kind=AgentKind.ORACLE), AgentSpec(kind=AgentKind.NOOP))
SCORED = Scored(reward=0.5, rewards={"r": Score(score=0.5)})
FAILED = Failed(cause=Cause.PROVIDER, detail="503", retryable=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request):
    """None for a SQLite in the test's home, else the URL of an empty PostgreSQL database."""
    if request.param == "sqlite":
        return None
    return request.getfixturevalue("postgres").new_database()


@pytest.fixture
def store(tmp_path, database_url):
    store = Store(tmp_path / "state", database_url)
    yield store
    store.close()


@pytest.fixture
def planned(store):
    """Two tasks, two agents, two trials each."""
    return submit(store, "sweep")


def submit(store, sweep, first=0):
    chosen = tuple((task.index, task.key) for task in TASKS)
    plan = Plan(tasks=chosen, agents=tuple(AGENTS), trials=2)
    specs = trials_of(plan, REVISION, first)
    save(store, sweep, plan, specs)
    store.write(sweeps.save_tasks, ENVIRONMENT, {}, TASKS)
    return specs


def save(store, sweep, plan, specs):
    part = Part(
        title="probe", environment="probe", revision=REVISION, plan=plan, sandbox="bubblewrap"
    )
    store.write(sweeps.save_sweep, NewSweep(sweep, "0"), [part], [ENVIRONMENT], NOW)
    store.write(sweeps.save_trials, sweep, "probe", specs, NOW)


def finished(trial, n, state=AttemptState.FINISHED):
    return Attempt(trial=trial, n=n, state=state, started_at=NOW, ended_at=NOW)


def graded(trial, n, outcome):
    return Grade(trial=trial, attempt=n, revision=REVISION, outcome=outcome, graded_at=NOW)


def attempt_and_close(store, trial, outcome, *, final=True, worker="w"):
    n = store.write(trials.open_attempt, trial, worker, NOW)
    grade = graded(trial, n, outcome)
    closed = store.write(
        trials.close_attempt, finished(trial, n), None, grade, outcome if final else None
    )
    return n, closed


def outcome_of(store, trial):
    (row,) = store.read(trials.find_trials, trial)
    return row.outcome


def test_migrations_make_exactly_the_tables_of_the_schema(store):
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        assert context.get_current_revision() == schema.HEAD


def test_the_newest_migration_is_the_one_that_the_program_knows():
    migrations = Path(schema.__file__).parent / "migrations"
    assert ScriptDirectory(str(migrations)).get_heads() == [schema.HEAD]


def test_a_store_of_the_first_schema_is_brought_up_with_all_that_it_holds(tmp_path, database_url):
    old = (
        open_sqlite(tmp_path / "state/envwright.db")
        if database_url is None
        else connect(database_url)
    )
    upgrade(old, "0001")
    with writing(old) as connection:
        row = {"trial": "t", "attempt": 1, "seat": "s", "model": "m", "started_at": NOW}
        first = [c for c in schema.model_call.c if c.name != "cache_write_tokens"]
        kept = sa.table("model_call", *(sa.column(c.name, c.type) for c in first))
        connection.execute(sa.insert(kept), [{**row, "seconds": 1.5, "input_tokens": 3}])
    old.dispose()
    store = Store(tmp_path / "state", database_url)
    usage = Usage(input_tokens=9, output_tokens=1, cached_tokens=2, cache_write_tokens=4)
    call = ModelCall(seat="s", model="m", started_at=NOW, seconds=1.0, status=200, usage=usage)
    store.write(insert_calls, [("t", 1, call)])
    table = schema.model_call.c
    columns = sa.select(table.input_tokens, table.cache_write_tokens).order_by(table.id)
    rows = store.read(lambda connection: connection.execute(columns).all())
    store.close()
    assert rows == [(3, None), (9, 4)]


def test_writes_that_share_a_transaction_fail_and_are_taken_back_one_by_one(store, planned):
    """The writer is held up, so that all that follows waits for it together."""
    gate = threading.Event()
    wrong = (4, 9)

    def open_one(connection, number):
        n = trials.open_attempt(connection, planned[number % 8].id, f"w{number}", NOW)
        if number in wrong:
            raise ValueError(f"no {number}")
        return n

    async def scene():
        held = asyncio.ensure_future(store.write_soon(lambda _: gate.wait(10)))
        await asyncio.sleep(0.05)
        writes = [asyncio.ensure_future(store.write_soon(open_one, n)) for n in range(12)]
        await asyncio.sleep(0.05)
        writes[7].cancel()
        gate.set()
        await held
        return await asyncio.gather(*writes, return_exceptions=True)

    results = asyncio.run(scene())
    assert [str(results[n]) for n in wrong] == ["no 4", "no 9"]
    assert isinstance(results[7], asyncio.CancelledError)
    kept = [n for n in range(12) if n not in (*wrong, 7)]
    assert [results[n] for n in kept] == [1 if n < 8 else 2 for n in kept]
    workers = sa.select(schema.attempt.c.worker).order_by(schema.attempt.c.worker)
    rows = store.read(lambda connection: connection.execute(workers).scalars().all())
    assert sorted(rows) == sorted(f"w{n}" for n in kept)


def test_a_sweep_that_is_planned_twice_keeps_what_its_trials_have(store, planned):
    attempt_and_close(store, planned[0].id, SCORED)
    assert len(store.read(sweeps.unscored, "sweep")) == 7
    again = submit(store, "again")
    assert [spec.id for spec in again] == [spec.id for spec in planned]
    assert store.read(sweeps.unscored, "again") == {spec.id for spec in planned[1:]}
    assert outcome_of(store, planned[0].id)["reward"] == 0.5


def test_fresh_trials_begin_behind_all_that_these_agents_had(store, planned):
    names = [str(agent) for agent in AGENTS]
    assert store.read(sweeps.next_n, REVISION, names) == 2
    assert store.read(sweeps.next_n, REVISION, ["scripted:x"]) == 0
    assert store.read(sweeps.next_n, digest("other"), names) == 0
    fresh = submit(store, "fresh", first=2)
    assert not {spec.id for spec in fresh} & {spec.id for spec in planned}


@pytest.mark.parametrize(
    ("first", "then", "kept"),
    [(SCORED, FAILED, "scored"), (SCORED, SCORED, "scored"), (FAILED, SCORED, "scored")],
)
def test_a_scored_outcome_is_never_replaced_and_a_failed_one_only_by_a_later(
    store, planned, first, then, kept
):
    trial = planned[0].id
    attempt_and_close(store, trial, first)
    other = then.model_copy(update={"reward": 1.0}) if first is then else then
    attempt_and_close(store, trial, other)
    outcome = outcome_of(store, trial)
    assert outcome["kind"] == kept
    assert outcome["reward"] == 0.5
    attempts = store.read(trials.attempts_of, trial)
    assert [a.n for a in attempts] == [1, 2]
    assert [a.grades[0]["outcome"]["kind"] for a in attempts] == [first.kind, then.kind]


def test_an_attempt_can_be_closed_once(store, planned):
    trial = planned[0].id
    n, closed = attempt_and_close(store, trial, SCORED)
    assert closed is True
    late = graded(trial, n, FAILED)
    assert store.write(trials.close_attempt, finished(trial, n), "b", late, FAILED) is False
    (attempt,) = store.read(trials.attempts_of, trial)
    assert (attempt.state, attempt.blob, len(attempt.grades)) == ("finished", None, 1)
    assert outcome_of(store, trial)["kind"] == "scored"


def test_a_failure_that_will_be_tried_again_is_no_outcome_yet(store, planned):
    trial = planned[0].id
    attempt_and_close(store, trial, FAILED, final=False)
    assert outcome_of(store, trial) is None
    (attempt,) = store.read(trials.attempts_of, trial)
    assert attempt.grades[0]["outcome"]["cause"] == "provider"


def test_attempts_that_a_trials_dead_workers_left_are_lost_and_others_left_alone(store, planned):
    gone, alive = planned[0].id, planned[1].id
    store.write(trials.open_attempt, gone, "gone", NOW)
    store.write(trials.open_attempt, alive, "alive", NOW)
    later = NOW + timedelta(hours=1)
    assert store.write(trials.close_lost, gone, later) == [1]
    assert store.write(trials.close_lost, gone, later) == []
    (lost,) = store.read(trials.attempts_of, gone)
    (running,) = store.read(trials.attempts_of, alive)
    assert (lost.state, lost.problem) == ("lost", "its worker is gone")
    assert running.state == "running"
    assert outcome_of(store, gone) is None


@pytest.mark.parametrize(
    ("history", "given_up"),
    [("lll", True), ("ll", False), ("llfll", False), ("lfll", False), ("flll", True)],
)
def test_a_trial_is_given_up_after_three_attempts_that_were_lost_in_a_row(
    store, planned, history, given_up
):
    trial = planned[0].id
    for letter in history:
        if letter == "l":
            store.write(trials.open_attempt, trial, "gone", NOW)
            store.write(trials.close_lost, trial, NOW)
        else:
            attempt_and_close(store, trial, FAILED, final=False)
    assert store.read(trials.is_given_up, trial) is given_up
    # Asked for once more, it has all its attempts again.
    before = store.read(trials.attempts_before, [trial])
    assert before == {trial: len(history)}
    assert not store.read(trials.is_given_up, trial, before[trial])


def test_a_worker_is_gone_once_its_very_process_is():
    assert not is_gone(worker_name())
    name, _, _ = worker_name().partition("~")
    node, pid, ticks = name.rsplit(":", 2)
    assert is_gone(f"{node}:{pid}:{int(ticks) + 1}~1")
    assert not is_gone(f"another-machine:{pid}:1~1")
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert is_gone(f"{node}:{child.pid}:{ticks}~1")


class Blobs:
    """Remembers what was said of the trial when its trace came; or has a full disk."""

    def __init__(self, store, trial, *, full=False):
        self.store, self.trial, self.full = store, trial, full
        self.said = []

    async def put(self, name, content):
        if self.full:
            raise OSError("no space left on device")
        self.said.append((outcome_of(self.store, self.trial), content))


class Hosts:
    """Answers every call with one episode of verifiers."""

    def __init__(self, meanwhile=lambda: None):
        self.meanwhile = meanwhile

    async def call(self, name, args, *, seconds, patience, isolated):
        self.meanwhile()
        agent = {"name": "agent", "trainable": True}
        rewards = {"r": {"score": 0.5, "weight": 1.0}}
        return {"ok": True, "errors": [], "traces": [{"agent": agent, "rewards": rewards}]}


def test_a_process_that_starts_over_under_another_name_keeps_its_sweep(store, planned):
    """Else it would take its own sweep for one that was left behind, and stop it."""
    first, later = worker_name(), worker_name()
    table = schema.sweep
    store.write(workers.hello, Worker(first, 1, stays=False, release="1"))
    values = {"worker": first, "state": "running"}
    store.write(lambda c: c.execute(sa.update(table).values(values)) and None)
    store.write(workers.hello, Worker(later, 1, stays=False, release="1"))
    gone = sa.update(schema.worker).where(schema.worker.c.id == first).values(gone=True)
    store.write(lambda c: c.execute(gone) and None)
    assert store.write(sweeps.take_orphans) == []
    store.write(lambda c: c.execute(sa.update(schema.worker).values(gone=True)) and None)
    assert store.write(sweeps.take_orphans) == ["sweep"]


def work_of(store, hosts):
    """Handles trials on these hosts; what comes back says what to write."""

    @asynccontextmanager
    async def bench(order, spec):
        assignment = Assignment(agent=spec.agent)
        yield Bench(hosts, Gateway({}), None, None, Limits(), assignment)

    async def estimated(order, agent):
        return Spending()

    async def cancel(ids, why):
        return 0

    return TrialWork(store, lambda: "w", bench, estimated, cancel, lambda *_: None)


def job_for(store, spec, before=0, worker="w"):
    """The job of a trial, which this worker runs."""
    job = job_of(spec, Order("sweep", 0, spec.id, before))
    row = row_of(job, JobState.RUNNING, 0.0) | {"worker": worker}
    store.write(lambda c: c.execute(sa.insert(schema.job).values(row)))
    return job


@pytest.mark.parametrize("full", [False, True])
def test_a_trace_is_written_before_its_outcome_or_there_is_neither(store, planned, full):
    spec = planned[0]
    work = work_of(store, Hosts())
    kept, store.blobs = store.blobs, Blobs(store, spec.id, full=full)
    if full:
        with pytest.raises(OSError, match="no space"):
            asyncio.run(work(job_for(store, spec)))
        assert outcome_of(store, spec.id) is None
    else:
        result = asyncio.run(work(job_for(store, spec)))
        ((before, content),) = store.blobs.said
        assert before is None
        assert b'"seat":"agent"' in content
        store.write(result.record)
        assert outcome_of(store, spec.id)["reward"] == 0.5
    store.blobs = kept


@pytest.mark.parametrize("before", [0, 3])
def test_a_trial_that_took_three_workers_with_it_is_our_failure_until_asked_for_again(
    store, planned, before
):
    spec = planned[0]
    for _ in range(3):
        store.write(trials.open_attempt, spec.id, "gone", NOW)
        store.write(trials.close_lost, spec.id, NOW)
    result = asyncio.run(work_of(store, Hosts())(job_for(store, spec, before)))
    store.write(result.record)
    outcome = outcome_of(store, spec.id)
    if before:
        assert outcome["reward"] == 0.5
    else:
        assert (outcome["kind"], outcome["cause"]) == ("failed", "ours")
    assert len(store.read(trials.attempts_of, spec.id)) == (4 if before else 3)


def test_who_wakes_up_when_another_runs_the_trial_begins_no_attempt_and_ends_none(store, planned):
    spec = planned[0]
    job = job_for(store, spec, worker="another")
    n = store.write(trials.open_attempt, spec.id, "another", NOW)
    asyncio.run(work_of(store, Hosts())(job))
    assert [(each.n, each.state) for each in store.read(trials.attempts_of, spec.id)] == [
        (n, "running")
    ]


def test_a_trial_that_is_begun_twice_for_want_of_an_answer_has_one_attempt(store, planned):
    spec = planned[0]
    job, order = job_for(store, spec), Order("sweep", 0, spec.id)
    work = work_of(store, Hosts())
    begun = [store.write(work.begin, job, order, spec, Spending(), NOW) for _ in range(2)]
    assert [each.attempt for each in begun] == [1, 1]
    later = NOW + timedelta(seconds=1)
    assert store.write(work.begin, job, order, spec, Spending(), later).attempt == 2
    assert [each.state for each in store.read(trials.attempts_of, spec.id)] == ["lost", "running"]


def test_a_trial_during_which_a_judge_was_asked_in_nobodys_name_has_no_reward(planned):
    """Environment code may have made a number of the refusal, and whose it is nobody knows."""
    gateway = Gateway({})

    def stray():
        gateway.strays += 1

    limits, assignment = Limits(), Assignment(agent=planned[0].agent)
    for meanwhile, kind in ((stray, "failed"), (lambda: None, "scored")):
        bench = Bench(Hosts(meanwhile), gateway, None, None, limits, assignment)
        _, grade = asyncio.run(run(planned[0], 1, bench, isolated=False))
        assert grade.outcome.kind == kind
    bench = Bench(Hosts(stray), gateway, None, None, limits, assignment)
    _, grade = asyncio.run(run(planned[0], 1, bench, isolated=False))
    assert grade.outcome.cause is Cause.GRADER
    assert "without the trial's token" in grade.outcome.detail


def test_blobs_come_back_whole_and_a_damaged_one_is_said_to_be(store, tmp_path):
    content = os.urandom(100_000)
    asyncio.run(store.blobs.put("traces/a/b.zst", content))
    assert store.blobs.get("traces/a/b.zst") == content
    file = tmp_path / "state" / "blobs" / "traces" / "a" / "b.zst"
    packed = bytearray(file.read_bytes())
    packed[len(packed) // 2] ^= 1
    file.write_bytes(packed)
    with pytest.raises(EnvwrightError, match="is missing or damaged"):
        store.blobs.get("traces/a/b.zst")
    file.write_bytes(b"garbage")
    for name in ("traces/a/b.zst", "traces/a/missing.zst"):
        with pytest.raises(EnvwrightError, match=f"blob '{name}' is missing or damaged") as raised:
            store.blobs.get(name)
        assert raised.value.hint


def test_every_call_of_every_attempt_is_counted_and_an_unknown_price_is_unknown(
    store, planned, tmp_path, database_url
):
    a, b, c = (spec.id for spec in planned[:3])

    def call(cost, usage=(10, 5)):
        used = Usage(input_tokens=usage[0], output_tokens=usage[1]) if usage else None
        return ModelCall(seat="s", model="m", started_at=NOW, seconds=1, usage=used, cost_usd=cost)

    with_calls = Store(tmp_path / "state", database_url)
    with_calls.record(a, 1, call(0.5))
    with_calls.record(a, 2, call(0.25))
    with_calls.record(b, 1, call(None))
    with_calls.record(c, 1, call(None, usage=None))
    with_calls.close()
    rows = store.read(lambda connection: list(results.summaries(connection, "sweep")))
    by_cost = sorted((row.input_tokens, row.cost_usd is None, row.cost_usd or 0) for row in rows)
    assert by_cost[-2:] == [(10, True, 0), (20, False, 0.75)]
    assert by_cost[0] == (0, False, 0)


OPEN = """
import sys
from pathlib import Path
from alembic import command
import psycopg
import sqlalchemy.dialects.postgresql.psycopg
from envwright.store import Store
print("ready", flush=True)
sys.stdin.readline()
Store(Path(sys.argv[1]), sys.argv[2] or None).close()
"""


def test_several_processes_can_open_a_fresh_store_at_once(tmp_path, database_url):
    children = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(tmp_path / "state"), database_url or ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [(*child.communicate(timeout=60), child.returncode) for child in children]
    assert said == [("", "", 0)] * 3
    check_whole(tmp_path / "state", database_url)


KILLED = """
import os, signal, sys
from pathlib import Path
import sqlalchemy as sa
from envwright.store.engine import open_engine

tables = 0

@sa.event.listens_for(sa.Engine, "after_cursor_execute")
def count(connection, cursor, statement, *_):
    global tables
    tables += statement.lstrip().upper().startswith("CREATE TABLE")
    if tables == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

open_engine(Path(sys.argv[1]), sys.argv[2] or None)
"""


@pytest.mark.parametrize("tables", [1, 5])
def test_a_migration_that_is_killed_leaves_a_store_that_can_be_opened(
    tmp_path, tables, database_url
):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "state"), database_url or ""]
    killed = subprocess.run([*command, str(tables)])
    assert killed.returncode == -signal.SIGKILL
    check_whole(tmp_path / "state", database_url)


def check_whole(home, database_url):
    store = Store(home, database_url)
    submit(store, "sweep")
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, schema.metadata) == []
    store.close()


def at_once(count, act):
    """What `act(number)` gave in as many threads, which begin together."""
    gate = threading.Barrier(count)

    def begin(number):
        gate.wait()
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def test_attempts_that_open_at_once_are_numbered_one_by_one(store, planned):
    trial = planned[0].id
    for _ in range(5):
        at_once(8, lambda number: store.write(trials.open_attempt, trial, f"w{number}", NOW))
    assert [a.n for a in store.read(trials.attempts_of, trial)] == list(range(1, 41))


def test_an_attempt_that_is_closed_and_lost_at_once_is_one_of_the_two(store, planned):
    for spec in planned:
        n = store.write(trials.open_attempt, spec.id, "gone", NOW)
        grade = graded(spec.id, n, SCORED)

        def act(number, spec=spec, n=n, grade=grade):
            if number:
                return bool(store.write(trials.close_lost, spec.id, NOW))
            return store.write(trials.close_attempt, finished(spec.id, n), "b", grade, SCORED)

        closed, lost = at_once(2, act)
        (attempt,) = store.read(trials.attempts_of, spec.id)
        assert closed is not lost
        assert (attempt.state, attempt.blob) == (("finished", "b") if closed else ("lost", None))


def test_sweeps_that_are_saved_at_once_in_any_order_never_wait_for_each_other(store):
    # The revision is there: else whoever writes it first holds up all others.
    submit(store, "before", first=1000)
    chosen = tuple((task.index, task.key) for task in TASKS)
    orders = (tuple(AGENTS), tuple(AGENTS[::-1]))
    plans = [Plan(tasks=chosen, agents=order, trials=100) for order in orders]

    def act(number, first):
        plan = plans[number % 2]
        specs = trials_of(plan, REVISION, first)[:: 1 if number < 2 else -1]
        save(store, f"s{first}.{number}", plan, specs)

    for first in (0, 100, 200, 300):
        at_once(4, partial(act, first=first))
        assert len(store.read(sweeps.unscored, f"s{first}.3")) == 400


def test_times_come_back_as_aware_utc(store, planned):
    trial = planned[0].id
    tokyo = NOW.astimezone(ZoneInfo("Asia/Tokyo"))
    n = store.write(trials.open_attempt, trial, "w", tokyo)
    ended = Attempt(trial=trial, n=n, state=AttemptState.FINISHED, started_at=tokyo, ended_at=tokyo)
    store.write(trials.close_attempt, ended, None, graded(trial, n, SCORED), SCORED)
    (attempt,) = store.read(trials.attempts_of, trial)
    (row,) = store.read(trials.find_trials, trial)
    found = [attempt.started_at, attempt.ended_at, row.finished_at]
    assert found == [NOW] * 3
    assert {time.utcoffset() for time in found} == {timedelta(0)}
    with pytest.raises(StatementError, match="without a zone"):
        store.write(trials.open_attempt, trial, "w", NOW.replace(tzinfo=None))


def test_text_that_no_database_holds_is_spelled_out(store, planned):
    trial = planned[0].id
    n = store.write(trials.open_attempt, trial, "w", NOW)
    odd = finished(trial, n, AttemptState.LOST).model_copy(update={"problem": "a\0b\ud800é"})
    store.write(trials.close_attempt, odd, None, None, None)
    (attempt,) = store.read(trials.attempts_of, trial)
    assert attempt.problem == "a\\x00b\\ud800é"


def test_a_row_with_any_json_text_comes_back(store, planned):
    odd = Task(index=7, key=digest("odd"), prompt="?", row={"a": "x\0y \ud800 é", "b": [1.5, None]})
    store.write(sweeps.save_tasks, ENVIRONMENT, {}, [odd])
    assert store.read(trials.task_row, REVISION, digest({}), 7) == odd.row


@pytest.mark.parametrize(
    ("at", "install"), [("9999", "a newer envwright"), ("9999_v9_1_0", "'envwright>=9.1.0'")]
)
def test_a_newer_schema_is_refused_with_what_to_install(tmp_path, database_url, at, install):
    store = Store(tmp_path / "state", database_url)
    with store.engine.begin() as connection:
        connection.execute(sa.text("update alembic_version set version_num = :at"), {"at": at})
    store.close()
    with pytest.raises(UsageError, match=f"at schema {at}, this program knows") as raised:
        Store(tmp_path / "state", database_url)
    assert raised.value.hint == f"install {install}"


def test_migrations_behind_the_first_name_the_release_to_install():
    migrations = Path(schema.__file__).parent / "migrations"
    names = [script.revision for script in ScriptDirectory(str(migrations)).walk_revisions()]
    assert [name for name in names if not RELEASE_OF_SCHEMA.match(name)] == ["0001"]


def test_a_server_that_restarts_in_the_middle_loses_nothing_and_writes_nothing_twice(tmp_path):
    """On a server of its own: others are at work on the session's."""
    with serve_postgres() as server:
        store = Store(tmp_path / "state", server.new_database())
        planned = submit(store, "sweep")

        async def scene():
            first = await store.write_soon(trials.open_attempt, planned[0].id, "w", NOW)
            server.stop()
            call = ModelCall(seat="s", model="m", started_at=NOW, seconds=1.0, status=200)
            store.record(planned[0].id, first, call)
            writes = [
                asyncio.ensure_future(store.write_soon(trials.open_attempt, spec.id, "w", NOW))
                for spec in planned
            ]
            await asyncio.sleep(1.0)
            assert not any(write.done() for write in writes)
            server.start()
            return await asyncio.gather(*writes)

        assert asyncio.run(scene()) == [2, *([1] * 7)]
        counts = [
            sa.select(sa.func.count()).select_from(t) for t in (schema.attempt, schema.model_call)
        ]
        assert [store.read(lambda c, q=q: c.execute(q).scalar()) for q in counts] == [9, 1]
        server.stop()
        with pytest.raises(UsageError, match="cannot be used"):
            store.read(trials.find_trials, "a")
        server.start()
        store.close()


def test_a_commit_that_was_not_answered_is_not_repeated(tmp_path):
    """The server goes away between the statements and the commit: nobody knows what it kept."""
    with serve_postgres() as server:
        store = Store(tmp_path / "state", server.new_database())
        planned = submit(store, "sweep")
        gate, commits = threading.Event(), []

        @sa.event.listens_for(store.engine, "commit")
        def restart_before_the_second(_):
            commits.append(1)
            if len(commits) == 2:
                server.stop()
                server.start()

        async def scene():
            held = asyncio.ensure_future(store.write_soon(lambda _: gate.wait(10)))
            await asyncio.sleep(0.05)
            writes = [
                asyncio.ensure_future(store.write_soon(trials.open_attempt, spec.id, "w", NOW))
                for spec in planned[:2]
            ]
            await asyncio.sleep(0.05)
            gate.set()
            await held
            return await asyncio.gather(*writes, return_exceptions=True)

        said = asyncio.run(scene())
        assert [type(each) for each in said] == [CommitUnknown] * len(said)
        assert "may be kept or not" in str(said[0])
        assert [store.read(trials.attempts_of, spec.id) for spec in planned[:2]] == [[], []]
        store.close()


@pytest.mark.parametrize("kept", [False, True])
def test_a_call_is_in_the_ledger_once_whatever_became_of_the_commit(tmp_path, kept):
    with serve_postgres() as server:
        store = Store(tmp_path / "state", server.new_database())
        planned = submit(store, "sweep")
        commits = []

        @sa.event.listens_for(store.engine, "commit")
        def restart_at_the_first(connection):
            commits.append(1)
            if len(commits) == 1:
                if kept:
                    driver = connection.connection.driver_connection
                    driver.commit()
                    driver.execute("select 1")
                server.stop()
                server.start()

        made = ModelCall(seat="s", model="m", started_at=NOW, seconds=1.0, status=200)
        store.record(planned[0].id, 1, made)
        store.record(planned[0].id, 1, made.model_copy(update={"seconds": 2.0}))
        asyncio.run(store.flush())
        read = sa.select(schema.model_call.c.seconds).order_by(schema.model_call.c.seconds)
        assert store.read(lambda c: list(c.execute(read).scalars())) == [1.0, 2.0]
        assert len(commits) > 1
        store.close()
