"""Runs the kit against the service, with a fault in it."""

import http.client
import os
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
from planted import CONTROL
from sample_resource_testkit.access import SCOPES, ProjectClient, SandboxAccess, Vault, token_transport
from sample_resource_testkit.clauses import clauses as known
from sample_resource_testkit.outcomes import ClauseResult
from sample_resource_testkit.registry import load_checks
from sample_resource_testkit.runner import plan, run
from sample_resource_testkit.wire import Origin, Transport
from sample_resource_testkit.world import Server

from app.database import migrate
from app.extension import installed_package
from app.identity import clients
from app.serving.embedded import EmbeddedPostgres
from tests.support.folders import NOT_DURABLE, open_folder
from tests.support.gunicorn_server import Gunicorn

HERE = Path(__file__).parent


class TwoClients(SandboxAccess):
    """Projects of the sandbox, and a second API client for one of them.

    :ivar database: where that client is made.
    """

    database = ""

    def two_clients(self) -> tuple[ProjectClient, ProjectClient]:
        """The clients of a new project."""
        first = self.new_project()
        with psycopg.connect(self.database, autocommit=True) as connection:
            made = clients.create_client(connection, "kit", tuple(f"{name}:{first.key}" for name in SCOPES))
        return first, ProjectClient(first.key, "", made.client_id, made.client_secret, "OTHER")


class PlantedService:
    """The service on a port, on one worker, with the sandbox."""

    def __init__(self, port: int, database: str) -> None:
        self._port = port
        self._database = database

    def outcomes(self, fault: str, selected: Collection[str]) -> dict[str, ClauseResult]:
        """What becomes of clauses with a fault.

        :param fault: its name; empty for none.
        :param selected: the clauses; those that they rest on are run too.
        """
        url = f"http://127.0.0.1:{self._port}"
        # The projects of the run are made without faults, so that it always begins.
        self._plant("")
        transport = Transport(Origin.of(url), timeout_s=60)
        token_connections, target = token_transport(f"{url}/oauth/token", transport)
        access = TwoClients(token_connections, target, Vault(), transport)
        access.database = self._database
        access.begin()
        try:
            self._plant(fault)
            server = Server(transport, access, tag="planted")
            return run(server, plan(known(), load_checks(), selected), jobs=8)
        finally:
            self._plant("")
            access.close()

    def _plant(self, fault: str) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)) as connection:
            connection.request("PUT", f"{CONTROL}/{fault}")
            assert connection.getresponse().status == 204, fault


@contextmanager
def planted_service() -> Iterator[PlantedService]:
    """Start it, on a PostgreSQL of its own."""
    with open_folder() as folder, EmbeddedPostgres(folder / "data", NOT_DURABLE) as postgres:
        url = postgres.conninfo()
        migrate.upgrade(url, installed_package().migrations)
        path = os.pathsep.join(map(str, (HERE.parents[2], HERE, HERE.parent / "src")))
        server = Gunicorn(
            "planted_service:application", folder / "log", DATABASE_URL=url, SANDBOX="on", PYTHONPATH=path
        )
        try:
            yield PlantedService(server.port, url)
        finally:
            server.stop()
