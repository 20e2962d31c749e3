"""The journal as it is written: a stream of events (the WHATWG's server-sent events).

``request`` is an entry with what was found in it, ``ended`` the same entry again if it was under way then, and
``finding`` something that a later entry has shown of it.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from threading import Lock
from time import monotonic, time

from app import errors
from app.database.pool import Database
from app.http.connections import Connections
from app.sandbox.analysis.observer import Observation, Observer
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.entries import Entry
from app.sandbox.journal.store import Kept, Position
from app.sandbox.reading.lists import Reading, look_at_all, with_findings

STREAMS_AT_MOST = 50
"""Streams of one process."""

_LOOK_S = 0.1
_LAG_S = 0.33
"""The age of an entry that is streamed: all workers have written what arrived at them before."""
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
        self, project_key: str, known: "Known | None", is_gone: Callable[[], bool], exists: Callable[[], bool]
    ) -> "Events":
        """Each entry as an event, as soon as it is written. The stream counts as open until it is closed.

        :param known: what the reader has; None: it wants to know what comes from now on.
        :param is_gone: whether the reader has gone.
        :param exists: whether the project is still there.
        :raises ApiError: 503 if there are too many streams.
        """
        with self._lock:
            if self._open >= STREAMS_AT_MOST:
                raise errors.over_capacity(f"At most {STREAMS_AT_MOST} streams of a process can be open.")
            self._open += 1
        try:
            if known is None:
                with self._database.connection(project_key) as connection:
                    known = Known(journal_store.last_number(connection, project_key))
        except BaseException:
            self._closed()
            raise
        return Events(self._events(project_key, known, is_gone, exists), self._closed)

    def _closed(self) -> None:
        with self._lock:
            self._open -= 1

    def _events(
        self, project_key: str, known: "Known", is_gone: Callable[[], bool], exists: Callable[[], bool]
    ) -> Generator[bytes]:
        yield b"retry: 1000\n\n"
        alive_at = monotonic()
        reader = self._reader(project_key, known)
        while not self._connections.is_stopping and not is_gone() and exists():
            with self._database.connection(project_key) as connection:
                until_us = round((time() - _LAG_S) * 1e6)
                ended = journal_store.ended(connection, project_key, list(reader.open), until_us) if reader.open else {}
                found = journal_store.after(connection, project_key, reader.after, until_us)
                if not found and reader.after > (last := journal_store.last_number(connection, project_key)):
                    reader = _Reader(last)  # the journal was deleted, and its numbers began again
            events = reader.read(ended, found, until_us)
            if events:
                alive_at = monotonic()
                yield from events
                continue
            if monotonic() - alive_at > _SIGN_OF_LIFE_S:
                alive_at = monotonic()
                yield b": still there\n\n"
            self._connections.pause(_LOOK_S)

    def _reader(self, project_key: str, known: "Known") -> "_Reader":
        """A reader that has seen the entries that its client has."""
        with self._database.connection(project_key) as connection:
            kept = journal_store.listed(connection, project_key, limit=0)
        reading = Reading()
        seen = [each for each in kept if each.number <= known.after]
        ended = [each for each in seen if each.ended_us is not None and each.number not in known.open]
        look_at_all(self._database, project_key, reading, ended, kept)
        latest_us = max((each.ended_us or 0 for each in ended), default=0)
        open_ = {each.position: each for each in seen if each.number in known.open}
        return _Reader(known.after, reading.observer, open_, latest_us)


@dataclass(frozen=True, slots=True)
class Known:
    """What the reader of a stream has: all entries up to a number, some of them under way."""

    after: int
    open: frozenset[int] = frozenset()

    @classmethod
    def read(cls, text: str) -> "Known | None":
        """From the id of an event: the number, and those of entries under way, with commas; None for any other text."""
        numbers = text.split(",")
        if not all(each.isascii() and each.isdecimal() and len(each) <= 18 for each in numbers):
            return None
        after, *others = map(int, numbers)
        return cls(after, frozenset(others))


class _Reader:
    """What the client of a stream has been told.

    :param after: the highest number.
    :param open_: the entries that were under way when they were told.
    :param latest_us: the latest end of the others.
    """

    def __init__(
        self,
        after: int,
        observer: Observer | None = None,
        open_: Mapping[Position, Kept] | None = None,
        latest_us: int = 0,
    ) -> None:
        self.after = self._told = after
        self.open = dict(open_ or {})
        self._observer = observer or Observer()
        self._latest_us = latest_us

    def read(self, ended: Mapping[Position, tuple[int, str]], new: Sequence[Kept], until_us: int) -> list[bytes]:
        """The next events.

        :param ended: those of the open ones that have ended, with their ends and texts.
        :param new: the entries that follow, in the order of their numbers.
        :param until_us: only what had ended by then is told as ended: others may still have to be written before it.
        """
        told: list[tuple[Kept, str]] = []
        for each in new:
            if each.ended_us is not None and each.ended_us > until_us:
                break
            self.after = each.number
            if each.ended_us is None:
                self.open[each.position] = each
            told.append((each, "request"))
        for position, (ended_us, text) in ended.items():
            each = replace(self.open.pop(position), ended_us=ended_us, entry=text)
            told.append((each, "ended"))
        events: dict[int, tuple[str, str]] = {}
        later: list[bytes] = []
        for each, event in sorted(told, key=lambda one: (one[0].ended_us or inf, one[0].number)):
            read = Entry.read(each, each.entry or "")
            observation = Observation((), None)
            if each.ended_us is not None:
                observation = self._observer.feed(read, beside=self._is_beside(each, new))
                self._latest_us = max(self._latest_us, each.ended_us)
            own = [found for found in observation.found if found.number == each.number]
            text = with_findings(each.number, read.stored, own, observation.repeats)
            events[each.number] = event, text
            for found in observation.found:
                if found.number != each.number:
                    data = json.dumps({"number": found.number, "finding": found.described()})
                    later.append(f"event: finding\ndata: {data}\n\n".encode())
        return [self._event(number, *events[number]) for number in sorted(events)] + later

    def _event(self, number: int, event: str, text: str) -> bytes:
        """An event whose id is what its reader knows with it."""
        if event == "request":
            self._told = number
        open_ = sorted(each.number for each in self.open.values() if each.number <= self._told)
        id_ = ",".join(map(str, [self._told, *open_]))
        return f"id: {id_}\nevent: {event}\ndata: {text}\n\n".encode()

    def _is_beside(self, each: Kept, new: Sequence[Kept]) -> bool:
        """Whether another request was under way when it ended."""
        ended_us = each.ended_us or 0
        if self._latest_us > ended_us:
            return True
        others = [*self.open.values(), *new]
        return any(one.position[0] < ended_us and (one.ended_us is None or one.ended_us > ended_us) for one in others)
