"""The journal as it is written: a stream of events (the WHATWG's server-sent events).

``request`` is an entry with what was found in it, ``ended`` the same entry again if it was under way then, and
``changed`` once more if a later request has shown something of it.
"""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from time import monotonic, time

from app import errors
from app.sandbox.connections import Connections
from app.sandbox.journal.journal import Journal

STREAMS_AT_MOST = 50
STREAMS_OF_A_PROJECT = 10

_LOOK_S = 0.1
_YOUNG_S = 0.1
"""A request that is under way for less is not told yet: most end before, and are told once."""
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


class Streams:
    """The streams of this process; a stop of the worker ends them."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._open: Counter[Journal] = Counter()

    def events(
        self, journal: Journal, known: Known | None, is_gone: Callable[[], bool], exists: Callable[[], bool]
    ) -> Events:
        """Each entry as an event, as soon as it is there. The stream counts as open until it is closed.

        :param known: what the reader has; None: it wants to know what comes from now on.
        :param is_gone: whether the reader has gone.
        :param exists: whether the project is still there.
        :raises ApiError: 503 if there are too many streams.
        """
        if self._open.total() >= STREAMS_AT_MOST or self._open[journal] >= STREAMS_OF_A_PROJECT:
            raise errors.over_capacity(
                f"At most {STREAMS_AT_MOST} streams can be open, {STREAMS_OF_A_PROJECT} of a project."
            )
        self._open[journal] += 1

        def closed() -> None:
            self._open[journal] -= 1
            if not self._open[journal]:
                del self._open[journal]

        known = known or Known(journal.total)
        return Events(self._events(_Reader(journal, known), is_gone, exists), closed)

    def _events(self, reader: "_Reader", is_gone: Callable[[], bool], exists: Callable[[], bool]) -> Generator[bytes]:
        yield b"retry: 1000\n\n"
        alive_at = monotonic()
        while not self._connections.is_stopping and not is_gone() and exists():
            told = False
            for event in reader.read():
                told = True
                yield event
            if told:
                alive_at = monotonic()
            elif monotonic() - alive_at > _SIGN_OF_LIFE_S:
                alive_at = monotonic()
                yield b": still there\n\n"
            self._connections.pause(_LOOK_S)


class _Reader:
    """What the client of a stream has been told."""

    def __init__(self, journal: Journal, known: Known) -> None:
        self._journal = journal
        # A number that is not there yet is of a journal that was deleted, or of an earlier process.
        self._after = known.after if known.after <= journal.total else 0
        self._open = set(known.open)
        self._lates = journal.late(0)[1]

    def read(self) -> Iterator[bytes]:
        """The next events."""
        if self._after > self._journal.total:
            self._after, self._open = 0, set()  # the journal was deleted, and its numbers began again
        told, open_ = self._after, frozenset(self._open)
        for number in sorted(open_):
            entry = self._journal.get(number)
            if entry is None or not entry.is_under_way:
                self._open.discard(number)
                if entry is not None:
                    yield self._event("ended", number)
        for entry in self._journal.after(told):
            if entry.is_under_way:
                if time() - entry.arrived_at < _YOUNG_S:
                    break
                self._open.add(entry.number)
            self._after = entry.number
            yield self._event("request", entry.number)
        late, self._lates = self._journal.late(self._lates)
        for number in dict.fromkeys(late):
            if number <= told and number not in open_:
                yield self._event("changed", number)

    def _event(self, kind: str, number: int) -> bytes:
        """An event whose id is what its reader knows with it."""
        entry = self._journal.get(number)
        data = json.dumps(None if entry is None else entry.described(self._journal.secrets))
        id_ = ",".join(map(str, [self._after, *sorted(self._open)]))
        return f"id: {id_}\nevent: {kind}\ndata: {data}\n\n".encode()
