"""The journal of a project: its last requests, in memory, numbered by their arrival.

An entry is added when its request arrives, and is completed later. All journals of the process share one limit of
memory. Beyond the limit the first entries of the oldest project are dropped.
"""

from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from threading import Event
from typing import Any

from sample_resource_sandbox.journal.entry import Entry
from sample_resource_sandbox.journal.redaction import Secrets

KEPT = 1000
"""The most requests of a project that are kept."""


class Shelf:
    """The journals of a process, which share a limit of memory.

    :param bytes_at_most: the most bytes of all entries together.
    """

    def __init__(self, bytes_at_most: int) -> None:
        self.bytes_at_most = bytes_at_most
        self.bytes = 0
        self._journals: list[Journal] = []

    def begin(self, secrets: Secrets) -> "Journal":
        """Make the journal of a project that is new or was reset. It becomes the youngest one."""
        journal = Journal(self, secrets)
        self._journals.append(journal)
        return journal

    def end(self, journal: "Journal") -> None:
        """Empty and remove the journal of a project that is gone or was reset."""
        journal.clear()
        if journal in self._journals:
            self._journals.remove(journal)

    def make_room(self) -> None:
        """Drop the first entries of the oldest journals until the other entries fit."""
        for journal in self._journals:
            while self.bytes > self.bytes_at_most and journal.drop_first():
                pass


class Journal:
    """The entries for the requests of one project.

    :param secrets: the secrets and tokens that no entry shows.
    """

    def __init__(self, shelf: Shelf, secrets: Secrets) -> None:
        self.secrets = secrets
        self.total = 0
        """The number of requests since the journal began, including those that are no longer kept."""
        self._waiting: set[Event] = set()
        """The events that are set when an entry changes."""
        self._shelf = shelf
        self._entries: deque[Entry] = deque()

    def begin(self, entry: Entry) -> None:
        """Add the entry of a request that has arrived."""
        self.total += 1
        entry.number = self.total
        self._entries.append(entry)
        self.note_change()
        if len(self._entries) > KEPT:
            self.drop_first()

    def end(self, entry: Entry) -> None:
        """Count the bytes of an entry whose request has ended, because its size is known now."""
        entry.client = None
        self.note_change()
        if self.get(entry.number) is not entry:
            entry.drop_texts()
            return
        entry.counted_bytes = entry.bytes
        self._shelf.bytes += entry.counted_bytes
        if self._shelf.bytes > self._shelf.bytes_at_most:
            self._shelf.make_room()

    @contextmanager
    def watched(self, woken: Event) -> Generator[None]:
        """Set an event whenever an entry changes during the block."""
        self._waiting.add(woken)
        try:
            yield
        finally:
            self._waiting.discard(woken)

    def note_change(self) -> None:
        """Wake those that wait for changes of entries."""
        for woken in self._waiting:
            woken.set()

    def drop_first(self) -> bool:
        """Drop the first entry. Return False if there is none."""
        if not self._entries:
            return False
        entry = self._entries.popleft()
        self._shelf.bytes -= entry.counted_bytes
        if not entry.is_under_way:  # the texts of an entry under way are needed to judge it
            entry.drop_texts()
        return True

    def clear(self) -> None:
        """Drop all entries. The next entry has the number 1."""
        self._shelf.bytes -= sum(entry.counted_bytes for entry in self._entries)
        self._entries.clear()
        self.total = 0
        self.note_change()

    def get(self, number: int) -> Entry | None:
        """The entry with a number; None if it is not kept."""
        index = number - (self.total - len(self._entries)) - 1
        return self._entries[index] if 0 <= index < len(self._entries) else None

    def page(
        self, wanted: Mapping[str, Any], limit: int = KEPT, offset: int = 0, after: int | None = None
    ) -> tuple[list[Entry], int]:
        """Return a page of the wanted entries, and the number of all wanted entries.

        :param wanted: may contain the ``status``, ``operation`` and ``method`` that wanted entries have.
        :param after: a number; only entries with higher numbers are wanted, the oldest first. None: all entries, the
            newest first.
        """
        all_ = reversed(self._entries) if after is None else self.after(after)
        given = [(name, wanted[name]) for name in ("status", "operation", "method") if name in wanted]
        found = [entry for entry in all_ if all(getattr(entry, name) == each for name, each in given)]
        return found[offset : offset + limit], len(found)

    def after(self, number: int) -> Iterator[Entry]:
        """The entries with higher numbers than a number, the oldest first."""
        first = self.total - len(self._entries)
        return iter(list(islice(self._entries, max(0, number - first), None)))
