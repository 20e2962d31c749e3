"""A worker looks at each entry of a journal once, and shows what it would show if it looked at all of them anew."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st

from app.database.connection import Connection
from app.database.pool import Database
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.entries import Entry
from app.sandbox.journal.exchange import Exchange, HttpMessage
from app.sandbox.journal.store import Kept, Narrowing, Row
from app.sandbox.journal.texts import row_of
from app.sandbox.reading import lists
from app.sandbox.reading.lists import REMEMBERED, Reading, Readings
from tests.support.journals import exchange, kept_entry, read_entries

SENT = json.dumps({"objectTypeProperty": {}}).encode()


def post(number: int, body: bytes = SENT, status: int = 503) -> Exchange:
    """A POST that may make a second resource if it is repeated."""
    return exchange(
        arrived_at=float(number),
        client_id="one",
        operation_id="createOrUpdateResource",
        method="POST",
        request=HttpMessage((("Content-Type", "application/json"),), body, len(body)),
        status=status,
        answer=HttpMessage((), b"", 0),
        rule={"does": ["status"], "carriedOut": True, "replacedStatus": 201},
    )


def entry_of(number: int, body: bytes = SENT, status: int = 503) -> Kept:
    return kept_entry(number, row_of(post(number, body, status), ()).entry)


def read_by(reading: Reading, kept: list[Kept]) -> list[tuple[int, str]]:
    reading.look(reading.unseen(kept), {each.position: each.entry for each in kept if each.entry is not None})
    return reading.shown(kept)


@contextmanager
def looks() -> Iterator[list[int]]:
    """The numbers of the entries that are parsed."""
    looked: list[int] = []
    read = Entry.read

    def noted(kept: Kept, text: str) -> Entry:
        looked.append(kept.number)
        return read(kept, text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Entry, "read", noted)
        yield looked


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([SENT, b"{}", b"", b"["]), st.sampled_from([201, 401, 409, 503]))), st.data())
def test_piece_by_piece_shows_what_the_whole_shows(sent: list[tuple[bytes, int]], data: st.DataObject) -> None:
    kept = [entry_of(number, *each) for number, each in enumerate(sent, 1)]
    reading = Reading()
    known = 0
    while known < len(kept):
        known += data.draw(st.integers(1, len(kept) - known))
        with looks() as looked:
            read_by(reading, kept[:known])
        assert len(looked) <= known
    with looks() as looked:
        assert read_by(reading, kept) == read_entries(kept)
    assert looked == [each.number for each in kept]  # by the new reader alone


def test_an_entry_that_was_written_late_changes_what_is_known() -> None:
    first, second = entry_of(1), entry_of(3)
    reading = Reading()
    read_by(reading, [first, moved(second, 2)])
    late = Kept(2, (2, 0), 2, 0, True, entry_of(2).entry)
    kept = [first, late, moved(second, 3)]
    shown = [json.loads(text) for _, text in read_by(reading, kept)]
    assert [each["repeats"] for each in shown] == [None, 1, 2]
    assert read_by(reading, kept) == read_entries(kept)


def moved(kept: Kept, number: int) -> Kept:
    return replace(kept, number=number)


def test_a_new_journal_has_nothing_of_the_one_before() -> None:
    reading = Reading()
    read_by(reading, [entry_of(number) for number in range(1, 4)])
    assert read_by(reading, []) == []
    again = [Kept(1, (99, 0), 99, 0, True, entry_of(99).entry)]
    assert json.loads(read_by(reading, again)[0][1])["repeats"] is None


def test_entries_that_are_not_kept_any_more_are_forgotten() -> None:
    reading = Reading()
    kept = [entry_of(number) for number in range(1, 30)]
    for first in range(20):
        with looks() as looked:
            read_by(reading, kept[first : first + 10])
        assert len(looked) == (10 if first == 0 else 1)
    # Entries that came and went between two lists were never looked at.
    jump = [entry_of(number) for number in range(100, 110)]
    assert read_by(reading, jump) == read_entries(jump)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "_OBSERVED_AT_MOST", 20)
    reading = Reading()
    observers = set[int]()
    kept = [entry_of(number) for number in range(1, 60)]
    for first in range(49):
        read_by(reading, kept[first : first + 10])
        observers.add(id(reading.observer))
    assert len(observers) > 1
    assert read_by(reading, kept[48:58])


def test_an_entry_that_disappears_meanwhile_hides_no_other() -> None:
    reading = Reading()
    kept = [entry_of(1), entry_of(2)]
    unseen = reading.unseen(kept)
    reading.look(unseen, {kept[1].position: kept[1].entry or ""})
    assert [number for number, _ in reading.shown([replace(kept[0], entry=None), kept[1]])] == [2]


# With a database


@pytest.fixture
def stored(connection: Connection, project: str) -> Iterator[str]:
    """A project whose journal has three entries of 64 KiB."""
    add(connection, project, [1, 2, 3])
    yield project
    with connection.transaction():
        journal_store.delete_all(connection, project)


def add(connection: Connection, project_key: str, numbers: list[int]) -> None:
    body = json.dumps({"key": "k" * 64_000}).encode()
    rows = [row_of(post(number, body), ()) for number in numbers]
    rows = [Row(number, 0, number, 503, None, "POST", row.entry) for number, row in zip(numbers, rows, strict=True)]
    with connection.transaction():
        journal_store.add(connection, project_key, rows, len(rows))


def numbers_of(page: tuple[list[tuple[int, str]], int]) -> list[int]:
    return [number for number, _ in page[0]]


def test_a_list_reads_what_it_shows_and_what_is_new(app: Flask, connection: Connection, stored: str) -> None:
    readings = Readings(database_of(app))
    with looks() as looked:
        page, total = readings.page(stored, limit=1)
    assert (total, [number for number, _ in page], looked) == (3, [3], [1, 2, 3])
    assert json.loads(page[0][1])["repeats"] == 2
    listed = journal_store.listed(connection, stored, limit=1)
    assert [each.entry is not None for each in listed] == [False, False, True]
    with looks() as looked:
        assert numbers_of(readings.page(stored, limit=1, offset=1)) == [2]
        assert numbers_of(readings.page(stored)) == [1, 2, 3]
        assert numbers_of(readings.page(stored, Narrowing(number=2))) == [2]
        assert readings.page(stored, Narrowing(number=2**80)) == ([], 0)
        assert readings.page(stored, Narrowing(status=200)) == ([], 0)
        assert readings.page(stored, limit=0) == ([], 3)
    assert looked == []
    add(connection, stored, [4])
    with looks() as looked:
        assert numbers_of(readings.page(stored, limit=2)) == [3, 4]
    assert looked == [4]


def test_a_few_entries_are_in_memory_at_once(app: Flask, stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[Any] = []
    texts = journal_store.texts

    def noted(*arguments: Any) -> Any:
        fetched.append(texts(*arguments))
        return fetched[-1]

    monkeypatch.setattr(journal_store, "texts", noted)
    monkeypatch.setattr(lists, "_LOOKED_AT_ONCE", 100_000)
    Readings(database_of(app)).page(stored, limit=1)
    assert [len(each) for each in fetched] == [2]  # the third one is on the page


def test_journals_that_were_not_read_lately_are_forgotten(app: Flask, stored: str) -> None:
    readings = Readings(database_of(app))
    for number in range(REMEMBERED):
        readings.page(stored if number == 0 else f"{stored}-{number}", limit=0)
    with looks() as looked:
        readings.page(stored, limit=0)
    assert looked == []
    for number in range(REMEMBERED):
        readings.page(f"{stored}-{number}", limit=0)
    with looks() as looked:
        readings.page(stored, limit=0)
    assert looked == [1, 2, 3]


def database_of(app: Flask) -> Database:
    return app.extensions["database"]
