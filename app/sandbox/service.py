"""The parts of the sandbox of one process, joined."""

import os
import threading

import psycopg

from app import errors
from app.config import Settings
from app.database.connection import connect
from app.database.pool import Database
from app.http.connections import Connections
from app.sandbox.analysis.run_counts import RunCounts
from app.sandbox.analysis.run_report import Runs
from app.sandbox.journal.journal import Journal
from app.sandbox.projects import store as project_store
from app.sandbox.projects.bus import Bus, Message
from app.sandbox.projects.fence import Fence
from app.sandbox.projects.lifecycle import Projects
from app.sandbox.projects.registry import Registry
from app.sandbox.projects.world import SandboxWorlds
from app.sandbox.reading.lists import Readings
from app.sandbox.reading.stream import Streams
from app.telemetry.lasting_threads import keep_running

_REMOVAL_INTERVAL_S = 20.0
"""Between two looks for projects whose time is over."""

_CONNECTIONS_OF_A_WORKER = 1_000_000


class Sandbox:
    """What the application, the routes and the worker use of the sandbox."""

    def __init__(self, settings: Settings, database: Database) -> None:
        if settings.database_url is None:
            raise ValueError("the sandbox needs a database")
        self.connections = Connections()
        self.bus = Bus(settings.database_url, settings, self._hear, lambda connection: self.registry.load(connection))
        self.registry = Registry(database.own_connection, lambda: self.bus.is_trusted)
        secrets = tuple(each for each in (settings.sandbox_token, settings.metrics_token) if each)
        url = settings.database_url
        fence = Fence(database, self.registry.find, settings.queue_timeout_ms / 1000)
        database.fence = fence.writing
        counts = RunCounts(database)
        self.journal = Journal(lambda: connect(url, settings), project_store.keep, counts, secrets)
        self.projects = Projects(database, settings, self.bus, counts.close)
        self.runs = Runs(database, lambda: self.projects.flush(""))
        self.readings = Readings(database)
        self.streams = Streams(database, self.connections)
        self.worlds = SandboxWorlds(self.registry.find, self.registry.find_by_client, self.registry.is_removed)
        self._stopped = threading.Event()

    def _hear(self, message: Message) -> None:
        if message.kind == "flush":
            self.journal.flush(message.project_key or None)
        else:
            self.registry.hear(message)

    def start(self) -> None:
        """Begin what a worker does beside requests; after its fork."""
        self.connections.number_from(os.getpid() * _CONNECTIONS_OF_A_WORKER + 1)
        self.bus.start()
        self.journal.start()
        keep_running("sandbox-removal", self._remove_expired)

    def stop(self) -> None:
        """End what a worker does beside requests, and write what the journal has in memory."""
        self._stopped.set()
        self.connections.stop()
        self.journal.stop()
        self.bus.stop()

    def _remove_expired(self) -> None:
        while not self._stopped.wait(_REMOVAL_INTERVAL_S):
            try:
                self.projects.remove_expired()
            except (errors.ApiError, psycopg.Error):
                continue  # the database is away; the next look may find it
