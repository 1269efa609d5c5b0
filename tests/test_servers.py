"""State on servers: what the command line does with a PostgreSQL and an S3 store by URL."""

import asyncio
import os
import socket

import psycopg
import pytest

from envwright.errors import EnvwrightError, UsageError
from envwright.store import Blobs, Store
from envwright.store.blobs import open_objects
from postgres import PASSWORD, QUOTED
from s3 import KEY, SECRET, serve_s3
from support import EXAMPLES


@pytest.fixture(scope="module")
def s3():
    with serve_s3() as server:
        yield server


def blobs_at(tmp_path, url, variables=None):
    return Blobs(open_objects(tmp_path / "blobs", url, variables or {}))


def closed_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def assert_one_line(done, *said):
    assert done.code == 2, done
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("error: ")
    assert "hint: " in line
    for part in said:
        assert part in line
    for secret in (PASSWORD, QUOTED, "hunter2", SECRET, KEY):
        assert secret not in done.err


def test_blobs_are_written_and_read_over_http(tmp_path, s3):
    bucket = s3.new_bucket()
    blobs = blobs_at(tmp_path, f"s3://{bucket}/some/prefix", s3.variables)
    content = os.urandom(3_000_000)
    asyncio.run(blobs.put("traces/a/b.zst", content))
    assert blobs.get("traces/a/b.zst") == content
    assert b"<Key>some/prefix/traces/a/b.zst</Key>" in s3.ask("GET", f"/{bucket}")
    assert not (tmp_path / "blobs").exists()
    other = blobs_at(tmp_path, f"s3://{bucket}/some/prefix", s3.variables)
    assert other.get("traces/a/b.zst") == content
    with pytest.raises(EnvwrightError, match=r"blob 'missing' is missing or damaged"):
        blobs.get("missing")


def test_blobs_may_be_in_any_folder(tmp_path):
    blobs = blobs_at(tmp_path, f"file://{tmp_path}/else%20where")
    asyncio.run(blobs.put("a/b", b"content"))
    assert (tmp_path / "else where" / "a" / "b").exists()
    assert blobs.get("a/b") == b"content"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("gs://bucket", "neither s3:// nor file://"),
        ("s3://", "neither s3:// nor file://"),
        ("bucket/prefix", "neither s3:// nor file://"),
        ("file://host/folder", "neither s3:// nor file://"),
        ("s3://me:hunter2@bucket/prefix", "holds a user or a password"),
        ("s3://[bucket", "is no URL"),
    ],
)
def test_a_blob_url_that_is_none_is_refused_without_what_it_holds(tmp_path, url, said):
    with pytest.raises(UsageError, match=said) as raised:
        blobs_at(tmp_path, url)
    assert "hunter2" not in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://me:hunter2@host/db", ["'mysql'", "postgresql://USER:PASSWORD@HOST"]),
        ("postgresql://me:hunter2@host:port/db", ["no URL"]),
        ("hunter2", ["no URL"]),
        ("postgresql://me:hunter2@127.0.0.1:CLOSED/db", ["127.0.0.1:CLOSED/db", "refused"]),
        ("postgresql://127.0.0.1:CLOSED/db?user=me&password=hunter2", ["127.0.0.1:CLOSED/db"]),
        ("postgresql://me:hunter2@nowhere.invalid/db", ["nowhere.invalid/db"]),
        ("postgresql://me:hunter2@127.0.0.1:1/db?colour=hunter2", ["127.0.0.1:1/db"]),
    ],
)
def test_a_database_that_cannot_be_reached_is_one_line_without_the_password(envwright, url, said):
    port = str(closed_port())
    url = url.replace("CLOSED", port)
    done = envwright("trial", "list", ENVWRIGHT_DATABASE_URL=url)
    assert_one_line(done, *(part.replace("CLOSED", port) for part in said))


def test_a_database_that_refuses_is_one_line_without_the_password(envwright, postgres):
    refused = {
        postgres.url(password="hunter2"): "password authentication failed",
        postgres.url("missing"): 'database "missing" does not exist',
    }
    for url, said in refused.items():
        done = envwright("trial", "list", ENVWRIGHT_DATABASE_URL=url)
        assert_one_line(done, f"127.0.0.1:{postgres.port}/", said)
    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role guest login password 'hunter2'")
    database = url.rpartition("/")[2]
    guest = postgres.url(database, user="guest", password="hunter2")
    done = envwright("trial", "list", ENVWRIGHT_DATABASE_URL=guest)
    assert_one_line(done, "permission denied for schema public")


def test_a_database_that_went_away_is_one_line_too(tmp_path, postgres):
    url = postgres.new_database()
    store = Store(tmp_path, url)
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"alter database {url.rpartition('/')[2]} allow_connections false")
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            f"where datname = '{url.rpartition('/')[2]}'"
        )
    with pytest.raises(UsageError, match=r"cannot be used: .*not currently accepting"):
        store.read(lambda connection: connection.exec_driver_sql("select 1").scalar())
    store.close()


@pytest.mark.slow
def test_doctor_tries_the_database_and_the_blobs_that_are_set(envwright, postgres, s3):
    url = postgres.new_database()
    bucket = s3.new_bucket()
    servers = {"ENVWRIGHT_DATABASE_URL": url, "ENVWRIGHT_BLOB_URL": f"s3://{bucket}/x"}
    done = envwright("doctor", "--json", **servers, **s3.variables)
    parts = {part["name"]: (part["state"], part["said"]) for part in done.json["parts"]}
    assert parts["store"][0] == parts["blobs"][0] == "works"
    assert f"127.0.0.1:{postgres.port}/" in parts["store"][1]
    assert parts["blobs"][1] == f"in s3://{bucket}/x at {s3.endpoint}"
    with psycopg.connect(url) as connection:
        found = connection.execute("select count(*) from pg_tables where schemaname = 'public'")
        assert found.fetchone() == (0,)
    bad = {**servers, "ENVWRIGHT_DATABASE_URL": postgres.url(password="hunter2")}
    bad["ENVWRIGHT_BLOB_URL"] = "s3://no-such-bucket/x"
    done = envwright("doctor", "--json", **bad, **s3.variables)
    parts = {part["name"]: (part["state"], part["said"]) for part in done.json["parts"]}
    assert parts["store"][0] == parts["blobs"][0] == "broken"
    assert "no-such-bucket" in parts["blobs"][1]
    for secret in ("hunter2", PASSWORD, QUOTED, SECRET):
        assert secret not in done.out + done.err


@pytest.mark.slow
def test_a_run_keeps_all_its_state_on_the_servers(envwright, home, postgres, s3):
    bucket = s3.new_bucket()
    servers = {
        "ENVWRIGHT_DATABASE_URL": postgres.new_database(),
        "ENVWRIGHT_BLOB_URL": f"s3://{bucket}",
        **s3.variables,
    }
    run = ("run", EXAMPLES / "sums", "--agent", "oracle", "-n", "3", "--json")
    wrong = envwright(*run, **{**servers, "ENVWRIGHT_BLOB_URL": "s3://no-such-bucket"})
    assert_one_line(wrong, "s3://no-such-bucket/")
    done = envwright(*run, **servers)
    assert done.json["agents"]["oracle"]["scored"] == 3, done
    rows = envwright("trial", "list", "--json", **servers).lines
    assert len(rows) == 3
    shown = envwright("trial", "show", rows[0]["id"], "--json", **servers).json
    assert shown["traces"][0]["steps"]
    assert shown["attempts"][0]["started_at"].endswith("+00:00")
    assert s3.ask("GET", f"/{bucket}").count(b"<Key>traces/") == 3
    assert not (home / "envwright.db").exists()
    assert not (home / "blobs").exists()
