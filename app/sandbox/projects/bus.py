"""Tells all workers, on all machines, of a change, and waits until they have heard of it.

Workers keep the state of sandbox projects in memory, so that requests need no statement for it. A change has to be in
force for every request that begins after its answer, so its answer waits for the workers:

* Each worker has a connection that listens (LISTEN), and holds an advisory lock in shared mode, by which the others
  know that it is there. When its process or its connection ends, PostgreSQL releases the lock.
* A change notifies them in its transaction (NOTIFY). Each worker forgets what it knows of the project and confirms by
  another notification, and the one that made the change waits until all that held the lock have confirmed or are gone.
* A worker that cannot be reached must not use what it knows for ever: it trusts its memory for :data:`LEASE_S` after
  the last time that its connection answered, and afterwards reads the state of each request from the database. A change
  waits a little longer than that for a worker that does not confirm.

A second advisory lock orders changes and new workers: a worker that begins to listen sees a change in the database, or
hears of it. What it costs is in ``docs/sandbox.md``.
"""

import json
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, LiteralString
from uuid import uuid4

import psycopg

from app.config import Settings
from app.database.connection import Connection, connect
from app.telemetry.lasting_threads import keep_running

LEASE_S = 2.0
"""How long a worker trusts its memory after its connection has last answered."""

_BEAT_S = 0.5
_GRACE_S = 0.5
_RECONNECT_S = 0.5
_LOOK_AGAIN_S = 0.25
"""How often a change looks which workers are still there while it waits for them."""

_CHANGES = "sample_resource_sandbox"
_CONFIRMATIONS = "sample_resource_sandbox_heard"

_KEYS = {"space": 0x53616E64, "listeners": 1, "order": 2}
"""Of the two advisory locks; the space is "Sand" in ASCII."""

_LISTEN: LiteralString = "LISTEN sample_resource_sandbox"
_LISTEN_TOO: LiteralString = "LISTEN sample_resource_sandbox_heard"
_BE_LISTED: LiteralString = "SELECT pg_advisory_lock_shared(%(space)s::int, %(listeners)s::int)"
_BEFORE_CHANGES: LiteralString = "SELECT pg_advisory_lock_shared(%(space)s::int, %(order)s::int)"
_AFTER_CHANGES: LiteralString = "SELECT pg_advisory_unlock_shared(%(space)s::int, %(order)s::int)"
_IN_ORDER: LiteralString = "SELECT pg_advisory_xact_lock(%(space)s::int, %(order)s::int)"
_NOTIFY: LiteralString = "SELECT pg_notify(%(channel)s, %(text)s)"
_BEAT: LiteralString = "SELECT 1"
_LISTENERS: LiteralString = """
SELECT l.pid FROM pg_locks l
WHERE l.locktype = 'advisory' AND l.granted AND l.classid = %(space)s::int::oid AND l.objid = %(listeners)s::int::oid
    AND l.objsubid = 2 AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())"""

_log = logging.getLogger("app.sandbox")


@dataclass(frozen=True, slots=True)
class Message:
    """What workers are told.

    :param kind: ``made``, ``changed``, ``gone``, or ``flush``: to write what the journal has in memory.
    """

    kind: str
    project_key: str
    client_id: str = ""


@dataclass(slots=True)
class Notice:
    """A message that was sent, and who has to confirm it."""

    token: str
    message: Message
    listeners: set[int]
    heard: set[int] = field(default_factory=set[int])
    woken: threading.Event = field(default_factory=threading.Event)


class Bus:
    """One worker's place among all.

    :param url: the database.
    :param hear: called with each message, first in the worker that sends it; must be quick and may be called twice.
    :param load: called when the worker has begun to listen, with its connection, before anything is trusted.
    """

    def __init__(
        self,
        url: str,
        settings: Settings,
        hear: Callable[[Message], None],
        load: Callable[[Connection], None],
    ) -> None:
        self._url = url
        self._settings = settings
        self._hear = hear
        self._load = load
        self._trusted_until = float("-inf")
        self._notices: dict[str, Notice] = {}
        self._stopped = threading.Event()
        self._ready = threading.Event()

    @property
    def is_trusted(self) -> bool:
        """Whether what the worker has in memory is up to date."""
        return monotonic() < self._trusted_until

    def start(self) -> None:
        """Begin to listen, and return when that is so, or after a moment if the database is away."""
        keep_running("sandbox-bus", self._run)
        self._ready.wait(self._settings.connect_timeout_s)

    def stop(self) -> None:
        """Listen no more."""
        self._stopped.set()
        self._trusted_until = float("-inf")

    def notify(self, connection: Connection, message: Message) -> Notice:
        """Send a message; :meth:`wait` has to follow when the transaction is committed.

        :param connection: within the transaction of the change, as its last part: changes follow one another from here.
        """
        self.begin_last_part(connection)
        return self._sent(connection, message)

    @staticmethod
    def begin_last_part(connection: Connection) -> None:
        """Wait until the changes that are further than this one are committed; those that come later see it."""
        connection.execute(_IN_ORDER, _KEYS)

    def ask(self, connection: Connection, message: Message) -> Notice:
        """Send a message that belongs to no change."""
        return self._sent(connection, message)

    def _sent(self, connection: Connection, message: Message) -> Notice:
        token = uuid4().hex
        text = json.dumps([token, message.kind, message.project_key, message.client_id])
        listeners = {row[0] for row in connection.execute(_LISTENERS, _KEYS).fetchall()}
        notice = self._notices[token] = Notice(token, message, listeners)
        connection.execute(_NOTIFY, {"channel": _CHANGES, "text": text})
        return notice

    def withdraw(self, notice: Notice) -> None:
        """Wait for nobody: the transaction was rolled back, so nobody has heard of it."""
        self._notices.pop(notice.token, None)

    def wait(self, notice: Notice, look_again: Callable[[], set[int]]) -> None:
        """Wait until every worker has heard of it, or cannot be trusting its memory any more.

        :param look_again: the listeners that are there now.
        """
        self._hear(notice.message)
        deadline = monotonic() + LEASE_S + _GRACE_S
        try:
            while not notice.listeners <= notice.heard and (left := deadline - monotonic()) > 0:
                notice.woken.clear()
                if notice.listeners <= notice.heard:
                    return
                if not notice.woken.wait(min(left, _LOOK_AGAIN_S)):
                    notice.listeners &= look_again()
        finally:
            del self._notices[notice.token]

    @staticmethod
    def listeners(connection: Connection) -> set[int]:
        """The process ids, in the database, of all connections that listen."""
        return {row[0] for row in connection.execute(_LISTENERS, _KEYS).fetchall()}

    # The listening connection

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                with connect(self._url, self._settings) as connection:
                    self._begin(connection)
                    while not self._stopped.is_set():
                        self._listen(connection)
            except Exception as error:  # noqa: BLE001 -- whatever it was, the next connection may do
                self._trusted_until = float("-inf")
                if not self._stopped.is_set():
                    _log.warning("the sandbox lost its connection", extra={"fields": {"reason": str(error).strip()}})
                    self._stopped.wait(_RECONNECT_S)

    def _begin(self, connection: Connection) -> None:
        began = monotonic()
        connection.execute("SET synchronous_commit = off")
        connection.execute(_BEFORE_CHANGES, _KEYS)
        connection.execute(_LISTEN)
        connection.execute(_LISTEN_TOO)
        connection.execute(_BE_LISTED, _KEYS)
        self._load(connection)
        connection.execute(_AFTER_CHANGES, _KEYS)
        self._trusted_until = began + LEASE_S
        self._ready.set()

    def _listen(self, connection: Connection) -> None:
        """Hear of messages for a moment, then ask for a sign of life."""
        until = monotonic() + _BEAT_S
        while (left := until - monotonic()) > 0:
            self._take(connection, left)
        began = monotonic()
        connection.execute(_BEAT)
        self._take(connection, 0)
        self._trusted_until = began + LEASE_S

    def _take(self, connection: Connection, timeout_s: float) -> None:
        """Hear of the messages that arrive next, and confirm them."""
        tokens: list[str] = []
        for notification in connection.notifies(timeout=timeout_s, stop_after=1):
            if notification.channel == _CONFIRMATIONS:
                self._confirmed(notification.payload, notification.pid)
                continue
            token, kind, project_key, client_id = json.loads(notification.payload)
            with suppress(psycopg.Error):
                self._hear(Message(kind, project_key, client_id))
            tokens.append(token)
        for token in tokens:
            connection.execute(_NOTIFY, {"channel": _CONFIRMATIONS, "text": token})

    def _confirmed(self, token: str, pid: Any) -> None:
        notice = self._notices.get(token)
        if notice is not None:
            notice.heard.add(pid)
            if notice.listeners <= notice.heard:
                notice.woken.set()
