"""A service with the sandbox and two workers, for all tests of a process."""

import os
from collections.abc import Iterator

import pytest

from tests.support.gunicorn_server import Gunicorn
from tests.support.sandbox import Project, Service
from tests.support.server import measured


@pytest.fixture(scope="session")
def sandbox_server(database_url: str) -> Iterator[Gunicorn]:
    if os.environ.get("TEST_POOLER_URL"):
        pytest.skip("the sandbox needs a direct connection")
    settings = {"DATABASE_URL": database_url, "SANDBOX": "on", "WORKERS": "2", "THREADS": "4"}
    server = Gunicorn("wsgi:app", **settings, **measured())
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="session")
def sandbox(sandbox_server: Gunicorn) -> Service:
    return Service(sandbox_server.port)


@pytest.fixture
def throwaway(sandbox: Service) -> Project:
    """A project of the sandbox."""
    return sandbox.make()
