"""The journal of a project: its last requests, in memory, numbered by their arrival.

An entry stands here from the arrival of its request on, and is completed as more is known of it. All journals of the
process share one bound of memory: beyond it the first entries of the oldest project go.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from sample_resource_sandbox.journal.entry import Describable, Entry
from sample_resource_sandbox.journal.redaction import Secrets

KEPT = 1000
"""Requests of a project that are kept."""


class Shelf:
    """The memory that all journals of a process share.

    :param bytes_at_most: of all entries together.
    """

    def __init__(self, bytes_at_most: int) -> None:
        self.bytes_at_most = bytes_at_most
        self.bytes = 0
        self._journals: list[Journal] = []

    def begin(self, secrets: Secrets) -> "Journal":
        """The journal of a new project, which is the youngest."""
        journal = Journal(self, secrets)
        self._journals.append(journal)
        return journal

    def end(self, journal: "Journal") -> None:
        """Remove the journal of a project that is gone."""
        journal.clear()
        if journal in self._journals:
            self._journals.remove(journal)

    def make_room(self) -> None:
        """Drop the first entries of the oldest projects until the others fit."""
        for journal in self._journals:
            while self.bytes > self.bytes_at_most and journal.drop_first():
                pass


class Journal:
    """The requests of one project.

    :param secrets: what no entry shows.
    """

    def __init__(self, shelf: Shelf, secrets: Secrets) -> None:
        self.secrets = secrets
        self.total = 0
        """How many requests there were since the journal began, also those that are not kept."""
        self.changes = 0
        """Rises with each request that begins or ends."""
        self._shelf = shelf
        self._entries: deque[Entry] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    def begin(self, entry: Entry) -> None:
        """Add a request that has arrived."""
        self.total += 1
        self.changes += 1
        entry.number = self.total
        self._entries.append(entry)
        if len(self._entries) > KEPT:
            self.drop_first()

    def end(self, entry: Entry) -> None:
        """Note that a request has ended: from here on its size is known."""
        entry.client = None
        self.changes += 1
        if self.get(entry.number) is not entry:
            entry.drop_texts()
            return
        entry.counted_bytes = entry.bytes
        self._shelf.bytes += entry.counted_bytes
        if self._shelf.bytes > self._shelf.bytes_at_most:
            self._shelf.make_room()

    def found(self, number: int, finding: Describable) -> None:
        """Add what was found to an entry, if it is kept."""
        entry = self.get(number)
        if entry is not None:
            entry.findings += (finding,)

    def withdraw(self, number: int, finding: Describable) -> None:
        """Take a finding back."""
        entry = self.get(number)
        if entry is not None:
            entry.findings = tuple(each for each in entry.findings if each != finding)

    def drop_first(self) -> bool:
        """Drop the first entry; False if there is none."""
        if not self._entries:
            return False
        entry = self._entries.popleft()
        self._shelf.bytes -= entry.counted_bytes
        if not entry.is_under_way:  # else it is not judged yet
            entry.drop_texts()
        return True

    def clear(self) -> None:
        """Drop all entries; numbers begin again with 1."""
        self._shelf.bytes -= sum(entry.counted_bytes for entry in self._entries)
        self._entries.clear()
        self.total = 0

    def get(self, number: int) -> Entry | None:
        """The entry with a number; None if it is not kept."""
        index = number - (self.total - len(self._entries)) - 1
        return self._entries[index] if 0 <= index < len(self._entries) else None

    def page(
        self, wanted: Mapping[str, Any], limit: int = KEPT, offset: int = 0, after: int | None = None
    ) -> tuple[list[Entry], int]:
        """Some of the entries that are wanted, and how many there are.

        :param wanted: the ``status``, ``operation`` and ``method`` that they have, if it is given.
        :param after: only those that follow a number, oldest first; None: all, newest first.
        """
        all_ = reversed(self._entries) if after is None else self.after(after)
        given = [(name, wanted[name]) for name in ("status", "operation", "method") if name in wanted]
        found = [entry for entry in all_ if all(getattr(entry, name) == each for name, each in given)]
        return found[offset : offset + limit], len(found)

    def after(self, number: int) -> Iterator[Entry]:
        """The entries that follow a number."""
        first = self.total - len(self._entries)
        return iter(list(islice(self._entries, max(0, number - first), None)))
