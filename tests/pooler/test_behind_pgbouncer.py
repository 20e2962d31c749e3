"""The service behind PgBouncer in transaction mode: ``make test-slow ARGS=-mpooler``.

The environment variable ``PGBOUNCER`` names the program if it is not on the path.
"""

import json
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner, Result
from flask import Flask
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from app import create_app
from app.cli import main
from app.config import Settings
from app.database import migrate
from app.database.migrate import migration_files
from tests.support.api import EXAMPLE, Api, codes, send_concurrently
from tests.support.cluster import Cluster
from tests.support.folders import open_folder
from tests.support.oauth import issue
from tests.support.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.pooler]

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = shlex.split(os.environ.get("PGBOUNCER", "pgbouncer"))
SERVER_CONNECTIONS = 4
"""Fewer than the clients, so that consecutive statements of a client run in different sessions."""

LIMITS = {"statement_timeout": "5s", "lock_timeout": "300ms", "idle_in_transaction_session_timeout": "10s"}


@pytest.fixture(scope="session", autouse=True)
def version() -> tuple[int, ...]:
    """PgBouncer's version. Exits the test run with a message if PgBouncer is not installed."""
    if shutil.which(PROGRAM[0]) is None:
        pytest.exit(
            "These tests need PgBouncer (Debian: apt install pgbouncer), or PGBOUNCER=...",
            returncode=1,
        )
    told = subprocess.run([*PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"PgBouncer (\d+)\.(\d+)", told)
    assert found, told
    return tuple(int(number) for number in found.groups())


@contextmanager
def pgbouncer(server_url: str, **overrides: str) -> Generator[str]:
    """Run PgBouncer with ``ops/pooler/pgbouncer.ini`` in front of a server, and yield the URL of the same database."""
    server = conninfo_to_dict(server_url)
    port = free_port()
    config = ConfigParser(comment_prefixes=(";",), interpolation=None)
    config.read(ROOT / "ops/pooler/pgbouncer.ini")
    config["databases"] = {"*": f"host={server['host']} port={server['port']}"}
    with open_folder() as folder:
        overrides = {
            "listen_port": str(port),
            "unix_socket_dir": "",
            "auth_type": "trust",
            "auth_file": str(folder / "users"),
            "default_pool_size": str(SERVER_CONNECTIONS),
            **overrides,
        }
        config["pgbouncer"].update(overrides)
        del config["pgbouncer"]["pidfile"]  # its account cannot write there
        (folder / "users").write_text(f'"{server["user"]}" ""\n')
        with (folder / "pgbouncer.ini").open("w") as file:
            config.write(file)
        # PgBouncer does not run as root. The server identifies clients by their accounts, so both need the same one.
        account = pwd.getpwuid(Path(str(server["host"])).stat().st_uid)
        process = subprocess.Popen(
            [*PROGRAM, "--quiet", str(folder / "pgbouncer.ini")],
            user=account.pw_uid if os.geteuid() == 0 else None,
            group=account.pw_gid if os.geteuid() == 0 else None,
            extra_groups=[] if os.geteuid() == 0 else None,
        )
        try:
            url = f"host=127.0.0.1 port={port} user={server['user']} dbname={server['dbname']}"
            wait_until_connectable(url, process)
            yield url
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def wait_until_connectable(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait at most 10 s until PgBouncer accepts connections."""
    deadline = time.monotonic() + 10
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            assert process.poll() is None, "PgBouncer ended; its output above says why"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


TIGHT = {"statement_timeout": "1s", "lock_timeout": "300ms", "idle_in_transaction_session_timeout": "1s"}
"""Limits that all work on many resources exceeds."""


def limited_database(cluster: Cluster, limits: dict[str, str]) -> str:
    """A new database with time limits of its account, before anything is in it."""
    url = cluster.create_database(f"pooled_{uuid4().hex[:8]}")
    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in limits.items():
            connection.execute(
                sql.SQL("ALTER ROLE CURRENT_USER IN DATABASE {} SET {} = {}").format(
                    sql.Identifier(connection.info.dbname), sql.Identifier(name), value
                )
            )
    return url


@pytest.fixture(scope="module")
def limited_url(cluster: Cluster) -> str:
    """A database with the time limits that docs/operations.md recommends for its account, which is then migrated."""
    url = limited_database(cluster, LIMITS)
    migrate.upgrade(url)
    return url


@pytest.fixture(scope="module", params=["auto", "yes"])
def prepared(request: pytest.FixtureRequest, version: tuple[int, ...]) -> str:
    """The setting PREPARED_STATEMENTS: without them, and with them if this PgBouncer supports them."""
    if request.param == "yes" and version < (1, 21):
        pytest.skip(f"PgBouncer {'.'.join(map(str, version))} does not support prepared statements")
    return str(request.param)


@pytest.fixture(scope="module")
def pooled_url(limited_url: str, prepared: str) -> Iterator[str]:
    overrides = {"max_prepared_statements": "200"} if prepared == "yes" else {}
    with pgbouncer(limited_url, **overrides) as url:
        yield url


@pytest.fixture(scope="module")
def pooled_settings(pooled_url: str, prepared: str) -> Settings:
    return Settings(
        database_url=pooled_url,
        database_pooler="transaction",
        prepared_statements=prepared,
        connections=16,
        pool_timeout_ms=10_000,
    )


@pytest.fixture(scope="module")
def pooled(pooled_settings: Settings) -> Iterator[Flask]:
    app = create_app(pooled_settings)
    yield app
    app.extensions["database"].close()


@pytest.fixture
def api(pooled: Flask, limited_url: str, project: str) -> Api:
    with psycopg.connect(limited_url, autocommit=True) as connection:
        token = issue(connection, f"manage_test:{project}", client_id="test", lifetime_s=3600)
    return Api(pooled, project, token)


def command(settings: Settings, *arguments: str, sent: bytes | None = None) -> Result:
    """Run a command behind the pooler."""
    environment = {"DATABASE_URL": settings.database_url, "DATABASE_POOLER": "transaction"}
    environment["PREPARED_STATEMENTS"] = settings.prepared_statements
    return CliRunner().invoke(main, list(arguments), env=environment, input=sent)


def test_more_clients_than_server_sessions_all_get_correct_answers(api: Api) -> None:
    """Each statement is sent often enough on a connection that psycopg would prepare it without the setting."""

    def work(number: int) -> Any:
        created = api.create({"arrayOfIntExample": [number]}, key=f"key-{number}")
        for _ in range(6):
            created = api.update(created, {"action": "doSomeThing"})
            assert api.get(f"/key=key-{number}").get_json() == created
            assert api.get(f"?integerParameter={number}").status_code == 200
        return api.get(f"/{created['id']}")

    answers = send_concurrently(16, work)
    assert [answer.get_json()["version"] for answer in answers] == [7] * 16
    listed = api.get("/sorted-query-parameters?sort=createdAt%20desc&limit=20").get_json()
    assert listed["count"] == 16


def test_of_concurrent_updates_with_one_version_one_is_200(api: Api) -> None:
    created = api.create()
    body = {"version": 1, "actions": [{"action": "doSomeThing"}]}
    answers = send_concurrently(16, lambda _: api.post(f"/{created['id']}", json=body))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 15


def test_the_time_limits_of_the_account_are_in_force(pooled: Flask, api: Api, limited_url: str) -> None:
    with pooled.extensions["database"].connection() as connection:
        shown = {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in LIMITS}
    assert shown == LIMITS
    created = api.create()
    with psycopg.connect(limited_url) as other:
        other.execute("SELECT FROM resource WHERE project_key = %s FOR UPDATE", (api.project,))
        answer = api.post(f"/{created['id']}", json={"version": 1, "actions": [{"action": "doSomeThing"}]})
    assert (answer.status_code, codes(answer)) == (503, ["OverCapacity"])


def test_seed_export_and_import_work_behind_pgbouncer(pooled_settings: Settings, project: str) -> None:
    assert command(pooled_settings, "seed", "--project", project, "--count", "2500").exit_code == 0
    exported = command(pooled_settings, "export", "--project", project)
    assert (exported.exit_code, exported.stdout.count("\n")) == (0, 2501)
    imported = command(pooled_settings, "import", "--project", f"{project}-copy", sent=exported.stdout.encode())
    assert (imported.exit_code, "2500 imported" in imported.stderr) == (0, True)
    again = command(pooled_settings, "export", "--project", f"{project}-copy")
    # Compared as JSON values, since seeded data may have another notation of a number than the service. The comparison
    # is outside of the assert, since pytest takes minutes to explain a difference in so much text.
    same = [json.loads(line) for line in again.stdout.splitlines()] == [
        json.loads(line) for line in exported.stdout.splitlines()
    ]
    assert same


def at(settings: Settings, url: str) -> Settings:
    """The settings for another database of the same server, by the same pooler."""
    name = conninfo_to_dict(url)["dbname"]
    return replace(settings, database_url=f"{str(settings.database_url).rpartition(' dbname=')[0]} dbname={name}")


def test_commands_on_many_resources_do_not_end_at_the_limits_of_the_account(
    cluster: Cluster, pooled_settings: Settings, project: str
) -> None:
    settings = at(pooled_settings, limited_database(cluster, TIGHT))
    for arguments in (
        ("db", "upgrade"),
        ("seed", "--project", project, "--count", "30000"),
        ("db", "check"),
        ("db", "check", "--repair"),
    ):
        done = command(settings, *arguments)
        assert done.exit_code == 0, (arguments, done.output)
    environment = os.environ | {"DATABASE_URL": str(settings.database_url), "DATABASE_POOLER": "transaction"}
    export = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "export", "--project", project],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert export.stdout is not None
    first = export.stdout.readline()
    time.sleep(3)  # longer than the limit, with a transaction open
    rest = export.stdout.read()  # communicate() would lose what readline() has read ahead
    _, said = export.communicate()
    assert export.returncode == 0, said.decode()
    assert (first + rest).count(b"\n") == 30_000 + 1  # the last line counts the others


def test_a_migration_and_a_wait_for_one_do_not_end_at_the_limits_of_the_account(
    cluster: Cluster, pooled_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = at(pooled_settings, limited_database(cluster, TIGHT))
    (tmp_path / "0001.slow.sql").write_text("SELECT pg_sleep(2);\nSELECT pg_sleep(2);\n")
    monkeypatch.setattr(migrate, "FOLDER", tmp_path)
    migrate.migration_files.cache_clear()
    try:
        applied = send_concurrently(2, lambda _: migrate.upgrade(str(settings.database_url)))
    finally:
        migrate.migration_files.cache_clear()
    assert sorted(applied) == [[], ["0001.slow"]]


def test_client_and_key_commands_work_behind_pgbouncer(pooled_settings: Settings, pooled: Flask) -> None:
    for _ in range(7):
        assert command(pooled_settings, "client", "create", "--name", "x", "--scope", "view_test:p").exit_code == 0
    assert command(pooled_settings, "key", "rotate").exit_code == 0
    token = command(pooled_settings, "token", "--scope", "view_test:p").stdout.strip()
    assert Api(pooled, "p", token).get().status_code == 200


def test_a_second_upgrade_behind_pgbouncer_applies_nothing(cluster: Cluster, pooled_settings: Settings) -> None:
    empty = cluster.create_database(f"empty_{uuid4().hex[:8]}")
    settings = at(pooled_settings, empty)
    # An upgrade needs two sessions: one holds the advisory lock, the other applies migrations.
    results = [command(settings, "db", "upgrade") for _ in range(2)]
    assert [result.exit_code for result in results] == [0, 0]
    assert results[0].stdout == "".join(f"applied  {name}\n" for name in sorted(migration_files()))
    assert results[1].stdout == "Nothing to apply.\n"


def test_without_database_pooler_readiness_is_503(pooled_url: str, prepared: str) -> None:
    """Without DATABASE_POOLER a connection starts with time limits as parameters, which PgBouncer refuses."""
    if prepared == "yes":
        pytest.skip("the same with prepared statements")
    app = create_app(Settings(database_url=pooled_url, connections=1))
    answer = app.test_client().get("/health/ready")
    app.extensions["database"].close()
    assert answer.status_code == 503


def test_requests_are_503_while_postgres_behind_pgbouncer_is_down(data_dir: Path) -> None:
    server = Cluster(data_dir, {"fsync": "off"})
    url = server.start()
    try:
        migrate.upgrade(url)
        with psycopg.connect(url, autocommit=True) as connection:
            token = issue(connection, "manage_test:p", client_id="test", lifetime_s=3600)
        with pgbouncer(url) as pooled_url:
            app = create_app(Settings(database_url=pooled_url, database_pooler="transaction", connections=4))
            api = Api(app, "p", token)
            created = api.create()
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            while api.get(f"/{created['id']}").status_code == 200:
                time.sleep(0.05)
            for _ in range(3):
                began = time.monotonic()
                answer = api.post(json={"objectTypeProperty": EXAMPLE})
                assert (answer.status_code, codes(answer)) == (503, ["OverCapacity"])
                assert time.monotonic() - began < 5
            sockets = conninfo_to_dict(url)["host"]
            assert conninfo_to_dict(server.start())["host"] == sockets
            began = time.monotonic()
            while (answer := api.get(f"/{created['id']}")).status_code != 200:
                assert answer.status_code == 503
                assert time.monotonic() - began < 15
                time.sleep(0.1)
            assert answer.get_json() == created
            app.extensions["database"].close()
    finally:
        server.stop()


FEATURES = (
    "create_or_overwrite",
    "preconditions",
    "races",
    "reads",
    "search",
    "sorted_list",
    "staged",
    "values",
)


def test_the_feature_tests_pass_behind_pgbouncer(cluster: Cluster) -> None:
    """The tests of the interface, with PgBouncer between the application and its database."""
    url = cluster.create_database(f"features_{uuid4().hex[:8]}")
    with pgbouncer(url) as pooled_url:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-x",
                "-k",
                "not sixty_four",
                *(f"tests/resource/test_{name}.py" for name in FEATURES),
                "tests/identity/test_token_endpoint.py",
            ],
            cwd=ROOT,
            env=os.environ | {"TEST_DATABASE_URL": url, "TEST_POOLER_URL": pooled_url},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-4000:]
