"""The journal of a worker: requests are noted in memory and written a moment later, many at a time.

Only a reference to what is known anyway is kept while a request is answered. Its entry is made when it is written, five
times a second, and at once when somebody asks for the journal. A request that is still under way then is written too,
and once more when it has ended, so that entries have their places by the order in which requests arrived.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol
from uuid import UUID

import psycopg

from app.database.connection import Connection
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.exchange import Exchange
from app.sandbox.journal.store import BYTES_KEPT, KEPT, Row
from app.sandbox.journal.texts import made_row
from app.telemetry.lasting_threads import keep_running

FLUSH_INTERVAL_S = 0.2

YOUNG_S = 0.1
"""A request that is under way for less than this is not written yet: most end before, and are written once."""

_FORGOTTEN_AFTER = 250
_FORGOTTEN_AFTER_BYTES = 4 * 1024 * 1024
"""Entries of a project that a worker adds before it deletes those that are not kept any more."""

_WRITTEN_AT_ONCE = 1024 * 1024
"""Characters of the entries that one statement writes."""

_log = logging.getLogger("app.sandbox")


@dataclass(slots=True)
class _Noted:
    """What has ended in one project and is not written yet."""

    exchanges: deque[Exchange] = field(default_factory=deque[Exchange])
    bytes: int = 0
    unkept: int = 0
    """New ones of which the journal would keep nothing."""

    def add(self, exchange: Exchange) -> None:
        """Note a request, and drop the oldest ones if the journal would not keep them anyway."""
        self.exchanges.append(exchange)
        self.bytes += exchange.bytes
        while len(self.exchanges) > KEPT or (self.bytes > BYTES_KEPT and len(self.exchanges) > 1):
            dropped = self.exchanges.popleft()
            self.bytes -= dropped.bytes
            self.unkept += not dropped.written


_Owner = tuple[str, str, UUID | None]
"""A project, its client, and the run that it belongs to."""


class Runs(Protocol):
    """Counts the requests of the projects of a run of tests."""

    def counted(self, run_id: UUID, rows: Sequence[Row]) -> Callable[[Connection], None]:
        """Count what requests show that have ended; what is returned adds it to the run, within a transaction."""
        ...

    def leave(self, connection: Connection, project_key: str) -> None:
        """Delete the entries that the journal does not keep any more, once they are counted."""
        ...


class Journal:
    """What this worker has to write, on a connection of its own: it waits for no request.

    :param connect: opens the connection.
    :param keep: whether a project with this key and client is there; if so, it stays until the transaction ends.
    :param runs: counts requests of projects that belong to a run.
    :param secrets: that no entry may have, whoever sends them.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        keep: Callable[[Connection, str, str], bool],
        runs: Runs,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._connect = connect
        self._keep = keep
        self._runs = runs
        self._connection: Connection | None = None
        self._secrets = secrets
        self._under_way: dict[int, tuple[float, Exchange]] = {}
        """By place: when it began by the performance counter, and the request."""
        self._noted: dict[_Owner, _Noted] = {}
        self._added: dict[_Owner, tuple[int, int]] = {}
        """Entries and bytes since those were deleted that are not kept."""
        self._something = threading.Event()
        self._flushing = threading.Lock()
        self._stopped = threading.Event()

    def begin(self, exchange: Exchange, began: float) -> None:
        """Note a request that has arrived. :meth:`end` has to follow, however it ends.

        :param began: when it arrived, by the performance counter.
        """
        self._under_way[exchange.place] = began, exchange
        self._wake()

    def change(self, exchange: Exchange) -> None:
        """Note that more is known of a request under way."""
        exchange.changes += 1
        self._wake()

    def end(self, exchange: Exchange) -> None:
        """Note that a request has ended. Of one project as much is kept as the journal keeps."""
        self._under_way.pop(exchange.place, None)
        exchange.changes += 1
        owner = _owner_of(exchange)
        noted = self._noted.get(owner)
        if noted is None:
            noted = self._noted[owner] = _Noted()
        noted.add(exchange)
        self._wake()

    def _wake(self) -> None:
        """Tell the thread that there is something to write; :meth:`Event.set` takes a lock, so it is asked first."""
        if not self._something.is_set():
            self._something.set()

    def start(self) -> None:
        """Write what is noted, from now on, five times a second."""
        keep_running("sandbox-journal", self._run)

    def stop(self) -> None:
        """Write what is left, and end."""
        self._stopped.set()
        self._something.set()
        self.flush()
        with self._flushing:
            if self._connection is not None:
                self._connection.close()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._something.wait()
            self._stopped.wait(FLUSH_INTERVAL_S)
            self.flush(began_by=perf_counter() - YOUNG_S)

    def flush(self, project_key: str | None = None, began_by: float | None = None) -> None:
        """Write what is noted, of one project or of all. What cannot be written is lost, and the log says so.

        :param began_by: requests under way that began later, by the performance counter, are left for the next time.
        """
        with self._flushing:  # also for nothing: what another flush has taken is not written yet
            if project_key is None:
                self._something.clear()
            taken: dict[_Owner, _Noted] = {}
            for owner in [each for each in list(self._noted) if project_key in (None, each[0])]:
                taken[owner] = self._noted.pop(owner)
            for began, exchange in list(self._under_way.values()):
                if project_key in (None, exchange.project_key) and exchange.written < exchange.changes:
                    if began_by is None or began <= began_by:
                        taken.setdefault(_owner_of(exchange), _Noted()).exchanges.append(exchange)
                    else:
                        self._something.set()
            for owner, noted in taken.items():
                self._write(owner, noted)

    def _write(self, owner: _Owner, noted: _Noted) -> None:
        """Write some entries at a time, so that no statement is large."""
        left = noted.exchanges
        uncounted = noted.unkept
        while left:
            new: list[Row] = []
            known: list[Row] = []
            ended: list[Row] = []
            size = 0
            while left and size < _WRITTEN_AT_ONCE:
                exchange = left.popleft()
                rows = known if exchange.written else new
                exchange.written = exchange.changes
                row = made_row(exchange, self._secrets)
                rows.append(row)
                if row.ended_us is not None and not exchange.is_counted:
                    exchange.is_counted = True
                    ended.append(row)
                size += len(row.entry)
            self._write_rows(owner, new, known, ended, len(new) + uncounted, size)
            uncounted = 0

    def _write_rows(
        self, owner: _Owner, new: list[Row], known: list[Row], ended: list[Row], count: int, size: int
    ) -> None:
        """Write entries.

        :param known: those that were written before they had ended.
        :param ended: those of both that have ended, and are not counted in a run yet.
        """
        project_key, client_id, run_id = owner
        counted = None if run_id is None or not ended else self._runs.counted(run_id, ended)
        try:
            connection = self._connection
            if connection is None or connection.closed:
                connection = self._connection = self._connect()
            with connection.transaction():
                if not self._keep(connection, project_key, client_id):
                    return  # the project is being removed
                if count:
                    journal_store.add(connection, project_key, new, count)
                if known:
                    journal_store.renew(connection, project_key, known)
                if counted is not None:
                    counted(connection)
            entries, added = self._added.pop(owner, (0, 0))
            if entries + len(new) >= _FORGOTTEN_AFTER or added + size >= _FORGOTTEN_AFTER_BYTES:
                if run_id is None:
                    journal_store.forget(connection, project_key)
                else:
                    self._runs.leave(connection, project_key)
            else:
                self._added[owner] = entries + len(new), added + size
        except psycopg.Error as error:
            fields = {"project": project_key, "entries": len(new) + len(known), "reason": str(error).strip()}
            _log.warning("entries of the journal are lost", extra={"fields": fields})


def _owner_of(exchange: Exchange) -> _Owner:
    return exchange.project_key, exchange.owner, exchange.run_id
