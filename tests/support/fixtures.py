"""Fixtures: a PostgreSQL and an application for each test process, and a project key for each test.

A project key isolates a test as well as a database would, since no request reaches the resources of another project.
It costs nothing, and tests can commit and send concurrent requests.
"""

import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from flask import Flask
from hypothesis import is_hypothesis_test

from app import create_app
from app.config import Settings
from app.database import distribute, migrate
from app.database.connection import Connection
from app.extension import installed_package
from app.telemetry.shared_folder import MEMORY
from tests.support.api import Api
from tests.support.built import built as built
from tests.support.cluster import Cluster
from tests.support.contract import Contract
from tests.support.folders import NOT_DURABLE, open_folder
from tests.support.gunicorn_server import start_gunicorn as start_gunicorn
from tests.support.oauth import issue
from tests.support.secrecy import secrecy as secrecy
from tests.support.walk import Walked, walk

if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
    # All folders of the tests and of their processes are in memory. A data folder has a thousand files; on a disk,
    # starting PostgreSQL took more processor time than the tests themselves.
    _room = os.statvfs(MEMORY)
    if _room.f_bavail * _room.f_frsize >= 4 << 30 and not _room.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

MEASURED_CASES = 5

TokenFor = Callable[..., str]


def on_cluster() -> bool:
    """Whether the tests run on a distributed database."""
    return bool(os.environ.get("TEST_CLUSTER"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Measure the coverage of only the first cases of a test, because it takes a third of the time.

    Later cases add little. The test with a case for each clause is measured in all cases, tests with generated examples
    in none.
    """
    cases = Counter[tuple[Path, str]]()
    for item in items:
        test = item.path, getattr(item, "originalname", item.name)
        cases[test] += item.path.parent.name != "conformance"
        if cases[test] > MEASURED_CASES or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(autouse=True)
def needs_one_machine(request: pytest.FixtureRequest) -> None:
    """Skip tests that a distributed database cannot pass, with their reason."""
    marker = request.node.get_closest_marker("one_machine")
    if marker is not None and on_cluster():
        pytest.skip(*marker.args)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A path for DATA_DIR; the folder does not exist yet."""
    with open_folder() as folder:
        yield folder / "data"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running PostgreSQL."""
    with open_folder() as folder, Cluster(folder / "data", NOT_DURABLE) as server:
        yield server


@pytest.fixture(scope="session")
def walked(cluster: Cluster) -> Walked:
    """A finished walk through every operation, with all SQL that it sent."""
    return walk(cluster)


@pytest.fixture(scope="session")
def database_url(cluster: Cluster) -> str:
    """The URL of a migrated database: one in the embedded server, or the empty one at ``TEST_DATABASE_URL``.

    With ``TEST_CLUSTER`` the database is distributed.
    """
    url = os.environ.get("TEST_DATABASE_URL") or cluster.conninfo()
    extension = installed_package()
    migrate.upgrade(url, extension.migrations)
    with psycopg.connect(url, autocommit=True) as connection:
        if on_cluster():
            # One process distributes the database, and the others wait for it.
            connection.execute("SELECT pg_advisory_lock(7)")
            for _ in distribute.distribute(connection, 8, extension.distributed_tables, extension.local_tables):
                pass
    return url


@pytest.fixture(scope="session")
def settings(database_url: str) -> Settings:
    """The settings of the application under test.

    Its time limits are long, so that a slow machine makes no request fail. Tests of a limit set their own.
    """
    return Settings(database_url=database_url, connections=16, statement_timeout_ms=60_000, queue_timeout_ms=60_000)


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """A connection to the application's database."""
    with psycopg.connect(database_url, autocommit=True) as opened:
        yield opened


@pytest.fixture
def app_log(app: Flask) -> logging.Logger:
    """The application's logger."""
    return logging.getLogger("app")


@pytest.fixture(scope="session")
def app(settings: Settings) -> Iterator[Flask]:
    """The application under test."""
    application = create_app(settings)
    contract = Contract(application)
    application.after_request(contract.check)
    application.extensions["contract"] = contract
    yield application
    application.extensions["database"].close()


@pytest.fixture(autouse=True)
def contract_check(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test if an answer of the application differs from the OpenAPI document."""
    if "app" not in request.fixturenames:
        yield
        return
    contract: Contract = request.getfixturevalue("app").extensions["contract"]
    contract.violations.clear()
    yield
    assert not contract.violations, (
        f"An answer differs from its schema, of app/openapi/parts.json or of the view: {contract.violations[0]}"
    )


@pytest.fixture(scope="session")
def token_for(database_url: str) -> Iterator[TokenFor]:
    """A function that issues access tokens: ``token_for("manage_test:p", lifetime_s=60)``. It makes the client too."""
    with psycopg.connect(database_url, autocommit=True) as connection:

        def make(*scopes: str, client_id: str = "test-client", lifetime_s: int = 3600) -> str:
            return issue(connection, *scopes, client_id=client_id, lifetime_s=lifetime_s)

        yield make


@pytest.fixture
def project() -> str:
    """A project key that no other test uses."""
    return f"p-{uuid4().hex[:20]}"


@pytest.fixture
def api(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client with the scope ``manage_test`` of the project."""
    return Api(app, project, token_for(f"manage_test:{project}"))


@pytest.fixture
def other_project(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client with the scope ``manage_test`` of another project."""
    return Api(app, f"{project}-2", token_for(f"manage_test:{project}-2"))
