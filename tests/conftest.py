"""Fixtures: one PostgreSQL for each test process, one application on it, and for each test a project of its own.

Projects never see each other, so a fresh project key isolates a test as well as a fresh database would, at no cost,
and its concurrent requests and commits are real ones.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from flask import Flask

from app import create_app
from app.config import Settings
from app.database import migrate
from app.database.connection import Connection
from app.identity import issued_tokens, signing_keys
from app.serving.embedded import EmbeddedPostgres
from tests.support.api import Api
from tests.support.contract import Contract
from tests.support.gunicorn_server import start_gunicorn as start_gunicorn
from tests.support.secrecy import secrecy as secrecy
from tests.support.walk import Walked, walk

NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""Tests of the embedded server's durability start their own."""

TokenFor = Callable[..., str]


@contextmanager
def open_folder() -> Iterator[Path]:
    """A new folder that PostgreSQL's account can reach too when root runs the tests; pytest's own are private."""
    folder = Path(tempfile.mkdtemp(prefix="sample-resource-test-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A place for a DATA_DIR, which is not there yet."""
    with open_folder() as folder:
        yield folder / "data"


@pytest.fixture(scope="session")
def cluster() -> Iterator[EmbeddedPostgres]:
    """A running PostgreSQL."""
    with open_folder() as folder, EmbeddedPostgres(folder / "data", NOT_DURABLE) as server:
        yield server


@pytest.fixture(scope="session")
def walked(cluster: EmbeddedPostgres) -> Walked:
    """A walk through every operation, and all SQL that it sent."""
    return walk(cluster)


@pytest.fixture(scope="session")
def database_url(cluster: EmbeddedPostgres) -> str:
    """A migrated database: the embedded one, or an empty one of another server that ``TEST_DATABASE_URL`` names."""
    url = os.environ.get("TEST_DATABASE_URL") or cluster.conninfo()
    migrate.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        signing_keys.ensure_signing_key(connection)
    return url


@pytest.fixture(scope="session")
def settings(database_url: str) -> Settings:
    """Settings of the application under test, which reaches its database through ``TEST_POOLER_URL`` if that is set."""
    pooler = os.environ.get("TEST_POOLER_URL")
    return Settings(
        database_url=pooler or database_url,
        database_pooler="transaction" if pooler else None,
        pool_size=16,
        pool_timeout_ms=20_000,
    )


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """A connection to the database behind the application."""
    with psycopg.connect(database_url, autocommit=True) as opened:
        yield opened


@pytest.fixture
def app_log(app: Flask) -> logging.Logger:
    """The logger of all that the application says."""
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
def contract_is_kept(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test whose answers are not as the OpenAPI document says."""
    if "app" not in request.fixturenames:
        yield
        return
    contract: Contract = request.getfixturevalue("app").extensions["contract"]
    contract.violations.clear()
    yield
    assert contract.violations == []


@pytest.fixture(scope="session")
def token_for(database_url: str) -> Iterator[TokenFor]:
    """Makes access tokens: ``token_for("manage_test:p", lifetime_s=60)``."""
    with psycopg.connect(database_url, autocommit=True) as connection:

        def make(*scopes: str, client_id: str = "test-client", lifetime_s: int = 3600) -> str:
            return issued_tokens.issue_token(connection, Settings().token_issuer, client_id, scopes, lifetime_s)

        yield make


@pytest.fixture
def project() -> str:
    """A project key that nothing else has."""
    return f"p-{uuid4().hex[:20]}"


@pytest.fixture
def api(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client of the project's resources that may read and write."""
    return Api(app, project, token_for(f"manage_test:{project}"))
