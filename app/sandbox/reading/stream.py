"""The journal as it is written: a stream of events (the WHATWG's server-sent events).

``request`` is an entry with what was found in it; ``finding`` is something that a later entry has shown of it.
"""

import json
from collections.abc import Callable, Generator, Iterator
from threading import Lock
from time import monotonic, time

from app import errors
from app.database.pool import Database
from app.http.connections import Connections
from app.sandbox.analysis.observer import Observer
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.entries import Entry
from app.sandbox.reading.lists import Reading, look_at_all, with_findings

STREAMS_AT_MOST = 50
"""Streams of one process."""

_LOOK_S = 0.1
_LAG_S = 0.25
"""The age of an entry that is streamed: all workers have written what they answered before."""
_SIGN_OF_LIFE_S = 10.0


class Events:
    """The events of a stream. Whoever has it closes it, also if it was never begun."""

    def __init__(self, events: Generator[bytes], closed: Callable[[], None]) -> None:
        self._events = events
        self._closed = closed
        self._is_open = True

    def __iter__(self) -> Iterator[bytes]:
        return self._events

    def close(self) -> None:
        """End the stream; it may be repeated."""
        self._events.close()
        if self._is_open:
            self._is_open = False
            self._closed()


class Streams:
    """The streams of this process; a stop of the worker ends them."""

    def __init__(self, database: Database, connections: Connections) -> None:
        self._database = database
        self._connections = connections
        self._open = 0
        self._lock = Lock()

    def events(
        self, project_key: str, after: int | None, is_gone: Callable[[], bool], exists: Callable[[], bool]
    ) -> "Events":
        """Each entry as an event, as soon as it is written. The stream counts as open until it is closed.

        :param after: the number of the last entry that the reader has; None: those from now on.
        :param is_gone: whether the reader has gone.
        :param exists: whether the project is still there.
        :raises ApiError: 503 if there are too many streams.
        """
        with self._lock:
            if self._open >= STREAMS_AT_MOST:
                raise errors.over_capacity(f"At most {STREAMS_AT_MOST} streams of a process can be open.")
            self._open += 1
        try:
            if after is None:
                with self._database.connection(project_key) as connection:
                    after = journal_store.last_number(connection, project_key)
        except BaseException:
            self._closed()
            raise
        return Events(self._events(project_key, after, is_gone, exists), self._closed)

    def _closed(self) -> None:
        with self._lock:
            self._open -= 1

    def _events(
        self, project_key: str, after: int, is_gone: Callable[[], bool], exists: Callable[[], bool]
    ) -> Generator[bytes]:
        yield b"retry: 1000\n\n"
        alive_at = monotonic()
        observer = self._observer(project_key, after)
        while not self._connections.is_stopping and not is_gone() and exists():
            with self._database.connection(project_key) as connection:
                ended_by_us = round((time() - _LAG_S) * 1e6)
                found = journal_store.after(connection, project_key, after, ended_by_us)
                if not found and after > (last := journal_store.last_number(connection, project_key)):
                    after = last  # the journal was deleted, and its numbers began again
                    observer = Observer()
            for after, entry in found:
                yield from _events_of(observer, after, entry)
            if found:
                alive_at = monotonic()
                continue
            if monotonic() - alive_at > _SIGN_OF_LIFE_S:
                alive_at = monotonic()
                yield b": still there\n\n"
            self._connections.pause(_LOOK_S)

    def _observer(self, project_key: str, after: int) -> Observer:
        """An observer that has seen the entries that the reader has."""
        with self._database.connection(project_key) as connection:
            kept = journal_store.listed(connection, project_key, limit=0)
        reading = Reading()
        look_at_all(self._database, project_key, [each for each in kept if each.number <= after], reading.look)
        return reading.observer


def _events_of(observer: Observer, number: int, entry: str) -> Generator[bytes]:
    read = Entry.read(number, entry)
    observation = observer.feed(read)
    own = [each for each in observation.found if each.number == number]
    text = with_findings(number, read.stored, own, observation.repeats)
    yield f"id: {number}\nevent: request\ndata: {text}\n\n".encode()
    for each in observation.found:
        if each.number != number:
            data = json.dumps({"number": each.number, "finding": each.described()})
            yield f"event: finding\ndata: {data}\n\n".encode()
