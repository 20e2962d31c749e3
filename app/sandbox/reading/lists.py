"""The journal as it is read: entries with their numbers and what is found in them.

What is found in an entry depends on those before it. A worker looks at each entry once and remembers what it found, so
a list reads the texts that it shows, and those that were added since the last one.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json import dumps
from math import inf
from threading import Lock

from app.database.pool import Database
from app.sandbox.analysis.findings import Found
from app.sandbox.analysis.observer import Observer, beside
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.entries import Entry
from app.sandbox.journal.store import ALL, KEPT, UNREADABLE, Kept, Narrowing, Position
from app.values.large_values import computed

ReadEntry = tuple[int, str]
"""The number of an entry, and its JSON text as it is answered."""

Texts = Mapping[Position, str]

REMEMBERED = 8
"""Journals of which a worker remembers what it found: those that were read last. One takes some megabytes at most."""

_LOOKED_AT_ONCE = 1024 * 1024
"""Bytes of the entries that are read from the database together, to be looked at."""

_OBSERVED_AT_MOST = 4 * KEPT
"""Entries after which a journal is looked at anew, so that what an observer remembers is bounded."""


@dataclass(slots=True)
class _Seen:
    """What was found in an entry that stands at a position."""

    position: Position
    repeats: int | None
    is_readable: bool
    found: list[Found] = field(default_factory=list[Found])


class Reading:
    """What is known of one journal: the entries that have ended, looked at in the order of their ends."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.observer = Observer()
        self._seen: dict[int, _Seen] = {}
        self._last = 0
        """The highest number that was looked at."""
        self._ended_us = 0
        """The end of the last one."""
        self._observed = 0

    def unseen(self, kept: Sequence[Kept]) -> list[Kept]:
        """The entries that have ended and have to be looked at, in the order of their ends.

        If another entry stands at a number now, since a worker wrote it late or the journal was deleted, or if entries
        came and went that were not looked at, all of them have to be.

        :param kept: the whole journal.
        """
        by_number = {each.number: each.position for each in kept}
        first = kept[0].number if kept else 1
        for number in [number for number in self._seen if number < first]:
            del self._seen[number]
        stands = all(by_number.get(number) == seen.position for number, seen in self._seen.items())
        new = self._not_seen(kept)
        is_late = any((each.ended_us or 0) < self._ended_us for each in new)
        if not stands or is_late or first > self._last + 1 or self._observed > _OBSERVED_AT_MOST:
            self._begin()
            new = self._not_seen(kept)
        return sorted(new, key=lambda each: (each.ended_us or 0, each.number))

    def _not_seen(self, kept: Sequence[Kept]) -> list[Kept]:
        return [each for each in kept if each.ended_us is not None and each.number not in self._seen]

    def look(self, unseen: Sequence[Kept], texts: Texts, others: frozenset[int] = frozenset()) -> None:
        """Look at the next entries. One without a text is gone, and is passed over.

        :param others: the numbers of those that ended while others were under way.
        """
        for each in unseen:
            text = texts.get(each.position)
            if each.number in self._seen or text is None:
                continue
            entry = Entry.read(each, text)
            observation = self.observer.feed(entry, beside=each.number in others)
            self._seen[each.number] = _Seen(each.position, observation.repeats, entry.stored is text)
            for found in observation.found:
                if found.number in self._seen:
                    self._seen[found.number].found.append(found)
            self._last = max(self._last, each.number)
            self._ended_us = each.ended_us or 0
            self._observed += 1

    def shown(self, kept: Sequence[Kept]) -> list[ReadEntry]:
        """The entries that have a text, with what was found in them; oldest first."""
        at_the_end = self.observer.finish()
        shown: list[ReadEntry] = []
        for each in kept:
            if each.entry is not None:
                seen = self._seen.get(each.number)
                if seen is None:  # it is under way
                    text = Entry.read(each, each.entry).stored
                    shown.append((each.number, with_findings(each.number, text, [], None)))
                    continue
                found = seen.found + [found for found in at_the_end if found.number == each.number]
                text = each.entry if seen.is_readable else UNREADABLE
                shown.append((each.number, with_findings(each.number, text, found, seen.repeats)))
        return shown


def beside_others(kept: Sequence[Kept]) -> frozenset[int]:
    """The numbers of those requests that ended while another one was under way.

    :param kept: a journal, in the order of its numbers.
    """
    are_beside = beside([(each.position[0], inf if each.ended_us is None else each.ended_us) for each in kept])
    return frozenset(each.number for each, is_beside in zip(kept, are_beside, strict=True) if is_beside)


class Readings:
    """What this worker remembers of the journals that were read last."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._readings: OrderedDict[str, tuple[Reading, Lock]] = OrderedDict()

    def page(
        self, project_key: str, narrowing: Narrowing = ALL, limit: int = KEPT, offset: int = 0
    ) -> tuple[list[ReadEntry], int]:
        """The entries of a page, oldest first, with findings; and how many there are on all pages.

        :param limit: see :func:`journal_store.listed`.
        """
        reading, lock = self._reading(project_key)
        with lock:  # who asks meanwhile needs the same entries looked at
            with self._database.connection(project_key) as connection:
                kept = journal_store.listed(connection, project_key, narrowing, limit, offset)
            look_at_all(self._database, project_key, reading, kept, kept)
            size = sum(0 if each.entry is None else len(each.entry) for each in kept)
            shown = computed(lambda: reading.shown(kept), size)
        return shown, sum(each.is_wanted for each in kept)

    def _reading(self, project_key: str) -> tuple[Reading, Lock]:
        found = self._readings.pop(project_key, None) or (Reading(), Lock())
        self._readings[project_key] = found
        if len(self._readings) > REMEMBERED:
            self._readings.popitem(last=False)
        return found


def look_at_all(
    database: Database, project_key: str, reading: Reading, wanted: Sequence[Kept], kept: Sequence[Kept]
) -> None:
    """Look at entries in their order, some at a time, so that the texts of few are in memory at once.

    :param kept: the whole journal, which says what else was under way.
    """
    others = beside_others(kept)
    for together in _portions(reading.unseen(wanted)):
        texts: dict[Position, str] = {each.position: each.entry for each in together if each.entry is not None}
        if len(texts) < len(together):
            with database.connection(project_key) as connection:
                missing = [each.position for each in together if each.entry is None]
                texts |= journal_store.texts(connection, project_key, missing)
        size = sum(each.size for each in together)
        computed(lambda together=together, texts=texts: reading.look(together, texts, others), size)


def _portions(entries: Sequence[Kept]) -> Iterator[list[Kept]]:
    portion: list[Kept] = []
    size = 0
    for each in entries:
        portion.append(each)
        size += each.size
        if size >= _LOOKED_AT_ONCE:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def entries_of(kept: Sequence[Kept]) -> list[Entry]:
    """The entries that have a text, for analysis."""
    return [Entry.read(each, each.entry) for each in kept if each.entry is not None]


def with_findings(number: int, entry: str, found: Sequence[Found], repeats: int | None) -> str:
    """The JSON text of an entry, with its number as the first member and what was found as the last."""
    findings = dumps([each.described() for each in found]) if found else "[]"
    return f'{{"number":{number},{entry[1:-1]},"repeats":{dumps(repeats)},"findings":{findings}}}'
