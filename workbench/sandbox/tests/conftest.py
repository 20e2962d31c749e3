"""Fixtures of the tests of the sandbox: a service with it, for all tests of a process."""

from collections.abc import Iterator

import pytest
from tester import Project, Service

from tests.support.gunicorn_server import Gunicorn
from tests.support.server import measured

pytest_plugins = ["tests.support.fixtures"]


@pytest.fixture(scope="session")
def sandbox_server(database_url: str) -> Iterator[Gunicorn]:
    server = Gunicorn("wsgi:app", None, DATABASE_URL=database_url, SANDBOX="on", CONNECTIONS="4", **measured())
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="session")
def sandbox(sandbox_server: Gunicorn) -> Service:
    return Service(sandbox_server.port)


@pytest.fixture
def throwaway(sandbox: Service) -> Project:
    """A project of the sandbox."""
    return sandbox.make()
