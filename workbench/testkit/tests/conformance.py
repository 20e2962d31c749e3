"""Runs the kit against the service, with a fault in it."""

import http.client
import os
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from planted import CONTROL
from sample_resource_testkit.access import SandboxAccess, Vault, token_transport
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import ClauseResult
from sample_resource_testkit.registry import load_checks
from sample_resource_testkit.runner import plan, run
from sample_resource_testkit.wire import Origin, Transport
from sample_resource_testkit.world import Server

from app.database import migrate
from app.extension import installed_package
from app.serving.embedded import EmbeddedPostgres
from tests.support.folders import NOT_DURABLE, open_folder
from tests.support.gunicorn_server import Gunicorn

HERE = Path(__file__).parent


class PlantedService:
    """The service on a port, on one worker, with the sandbox."""

    def __init__(self, port: int) -> None:
        self._port = port

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
        access = SandboxAccess(token_connections, target, Vault(), transport)
        access.begin()
        try:
            self._plant(fault)
            server = Server(transport, access, tag="planted")
            return run(server, plan(clauses(), load_checks(), selected), jobs=8)
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
            yield PlantedService(server.port)
        finally:
            server.stop()
