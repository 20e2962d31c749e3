"""The sandbox as an extension of the service: this module makes its parts and joins them."""

import logging
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any

import psycopg
from flask import Flask, Request, Response, g, has_request_context
from gunicorn.arbiter import Arbiter

from app import errors
from app.config import Settings
from app.database.connection import Connection
from app.database.pool import Database
from app.extension import DocumentPage, Extension
from app.telemetry.metrics import metrics
from sample_resource_sandbox.analysis.runs import Runs
from sample_resource_sandbox.api import routes
from sample_resource_sandbox.api.guard import Guard
from sample_resource_sandbox.api.parts import Parts
from sample_resource_sandbox.connections import Waits
from sample_resource_sandbox.faults.hooks import Hooks
from sample_resource_sandbox.journal.journal import Shelf
from sample_resource_sandbox.projects.clock_and_ids import SandboxClocks
from sample_resource_sandbox.projects.lifecycle import Projects
from sample_resource_sandbox.projects.sole import SoleInstance
from sample_resource_sandbox.rules.matching import TOKEN_OPERATION
from sample_resource_sandbox.rules.rules import KINDS
from sample_resource_sandbox.settings import SandboxSettings

_REMOVAL_INTERVAL_S = 20.0
"""The seconds between two checks for expired projects and runs."""

_JOURNAL_BYTES = 64 * 1024 * 1024
"""The memory of all journals together. Beyond it the first entries of the oldest project are dropped."""

_RUN_KEPT_S = 86_400
"""The seconds for which a run is kept after its last project is gone."""

_ORDERS = "sandbox_orders"

_TAKEN = "another instance has the sandbox of this database: stop it, or name another DATABASE_URL"

_log = logging.getLogger("app.sandbox")


class Sandbox(Extension):
    """The sandbox of one application."""

    page = ("/sandbox", "Sandbox")
    card = """<li class="card">
<h2><a href="{root}/sandbox">Sandbox</a></h2>
<p>Test a client: throwaway projects, faults on demand, a clock, and a journal of what the client really sent. Its own
routes are the <a href="{root}/docs?document=sandbox">Sandbox API</a>.</p>
</li>
"""
    document = DocumentPage("sandbox", "Sandbox API", "/sandbox/openapi.json")
    counted = {_ORDERS: ("Answers that the sandbox changed on order.", "kind", KINDS)}  # noqa: RUF012 -- as in Extension

    def __init__(self, settings: Settings, database: Database) -> None:
        own = SandboxSettings.of(settings)
        self.warning = own.warning
        self._database = database
        self._token = own.token
        self._waits = Waits()
        self.shelf = Shelf(_JOURNAL_BYTES)
        self.runs = Runs(_RUN_KEPT_S)
        secrets = [each for each in (own.token, settings.metrics_token) if each]
        self.projects = Projects(database, settings, self.runs, self.shelf, secrets)
        self.clocks = SandboxClocks(self.projects.registry)
        self._stopped = threading.Event()
        self._sole = SoleInstance(settings.database_url or "", settings)

    def before(self, request: Request) -> Response | None:
        """Carry out the rules that act before the view. An answer ends the request."""
        return self._hooks.before(request)

    def after(self, request: Request, answer: Response) -> Response:
        """Change the answer as the rules say, and record the request in the journal.

        If this fails, the answer is left as it is, because the hooks that follow have to run for every answer.
        """
        try:
            return self._hooks.after(request, answer)
        except errors.ApiError:  # the database is away, so the project cannot be looked up
            pass
        except Exception:  # noqa: BLE001 -- the request has its answer, whatever fails here
            _log.exception("the sandbox could not note a request")
        return answer

    def writing(self, project: str) -> AbstractContextManager[Connection] | None:
        """The connection for writes to a sandbox project, under the lock of the project; None for other projects.

        The project is the one for which the request was authorised. By now another project may have its key.
        """
        exchange = g.get("sandbox") if has_request_context() else None
        if exchange is not None and exchange.project.key == project:
            return self.projects.writing(exchange.project)
        found = self.projects.registry.find(project)
        return None if found is None else self.projects.writing(found)

    def install(self, app: Flask) -> None:
        """Register the routes of the sandbox, and make its hooks."""
        self._waits.is_stopping = lambda: app.extensions["readiness"].is_stopping()
        self.parts = Parts(self.projects, Guard(self._token), _operations_in(app.extensions["openapi"]), self._waits)
        counter = metrics.counter_of(_ORDERS, *self.counted[_ORDERS][:2])
        self._hooks = Hooks(self._database, self.projects, self._waits, lambda kind: counter.labels(kind).inc())
        routes.install(app, self.parts)

    def start(self) -> None:
        """Lock the sandbox of the database for this instance, and begin to remove expired projects.

        If the database is away, the service starts nevertheless, and takes the lock when the database is back.

        :raises SystemExit: if another instance has the lock; gunicorn then ends the service.
        """
        with suppress(psycopg.Error):
            if not self._sole.take():
                _log.error(_TAKEN)
                sys.exit(Arbiter.WORKER_BOOT_ERROR)
        threading.Thread(target=self._remove_expired, name="sandbox-removal", daemon=True).start()

    def stop(self) -> None:
        """End the removal of projects, and release the lock of the sandbox."""
        self._stopped.set()
        self._sole.release()

    def _remove_expired(self) -> None:
        while not self._stopped.wait(_REMOVAL_INTERVAL_S):
            try:
                if not self._sole.keep():
                    _log.error(_TAKEN)
                    os._exit(Arbiter.WORKER_BOOT_ERROR)  # a thread cannot end its process in another way
                self.projects.remove_expired()
            except (errors.ApiError, psycopg.Error):
                continue  # the database is away; the next check may find it again
            except Exception:  # noqa: BLE001 -- the thread has to live, as nothing else removes projects
                _log.exception("expired projects could not be removed")


def _operations_in(document: Mapping[str, Any]) -> list[str]:
    """The ids of the operations of the interface that requests to a project may have."""
    return [
        operation["operationId"]
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if path.startswith("/{projectKey}/") or operation["operationId"] == TOKEN_OPERATION
    ]
