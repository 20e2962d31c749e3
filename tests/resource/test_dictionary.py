"""The dictionary of a project's words: every write adds its words, and each connection caches those that it has."""

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from app.bulk import consistency
from app.config import Settings
from app.database.connection import Connection
from app.resource import bulk_store
from app.resource.model import ResourceRow
from app.resource.searching.dictionary import WordCache, index_texts
from tests.support.api import Api, send_concurrently
from tests.support.applications import open_app
from tests.support.fixtures import TokenFor, on_cluster


def dictionary(connection: Connection, project: str) -> set[str]:
    """The words of the dictionary, once all texts are indexed."""
    waiting = "SELECT FROM unindexed_text u WHERE u.project_key = %s LIMIT 1"
    while connection.execute(waiting, (project,)).fetchone() is not None:
        index_texts(connection, project)
    rows = connection.execute("SELECT w.word FROM word w WHERE w.project_key = %s", (project,)).fetchall()
    return {row[0] for row in rows}


def stored(key: str, *texts: str, staged: str | None = None) -> ResourceRow:
    at = "2030-01-01T00:00:00.000Z"
    array = json.dumps({"arrayOfStringExample": texts}, separators=(",", ":"))
    staged_array = None if staged is None else f'{{"arrayOfStringExample":["{staged}"]}}'
    return ResourceRow(uuid4(), 1, key, at, at, "c", "c", array, "of property", staged_array, None)


def test_every_way_of_writing_adds_its_words(api: Api, connection: Connection) -> None:
    created = api.create({"arrayOfStringExample": ["created"]}, key="k-1")
    created = api.update(created, {"action": "changeSomeProperty", "someProperty": "updated"})
    api.update(created, {"action": "changeSomeProperty", "someProperty": "stagedupdate", "staged": True})
    for method, word in (("POST", "posted"), ("PUT", "put")):
        for query in ("", "?staged=true"):
            body = {"key": "k-1", "objectTypeProperty": {"arrayOfStringExample": [word + query[1:7]]}}
            assert api.request(method, query, json=body).status_code == 200
    api.post("?staged=true", json={"key": "k-2", "objectTypeProperty": {"arrayOfStringExample": ["stagedcreate"]}})
    expected = {"created", "updated", "stagedupdate", "posted", "postedstaged", "put", "putstaged", "stagedcreate"}
    assert dictionary(connection, api.project) == expected
    bulk_store.copy_in(connection, api.project, [stored("k-3", "Copied", staged="copiedstaged")])
    with connection.transaction():
        inserted = bulk_store.insert_many(connection, api.project, [stored("k-4", "imported"), stored("k-3", "taken")])
    assert len(inserted) == 1
    expected |= {"copied", "copiedstaged", "imported", "of", "property"}
    assert dictionary(connection, api.project) == expected


def test_the_words_of_a_write_that_is_refused_find_nothing(api: Api, connection: Connection) -> None:
    api.create({}, key="k-1")
    body = {"key": "k-1", "version": 7, "objectTypeProperty": {"arrayOfStringExample": ["refused"]}}
    assert api.patch(json=body).status_code == 409
    assert api.get("/searchApiPattern?text.en=refused").get_json()["total"] == 0
    assert api.patch(json={**body, "version": 1}).status_code == 200
    assert api.get("/searchApiPattern?text.en=refused").get_json()["total"] == 1
    assert dictionary(connection, api.project) == {"refused"}


def test_a_search_finds_a_new_word_before_it_is_indexed_and_after(
    settings: Settings, project: str, token_for: TokenFor, connection: Connection
) -> None:
    texts = "SELECT count(*) FROM unindexed_text WHERE project_key = %s"
    with open_app(settings) as app:
        app.extensions["database"].leisure.close()  # nobody indexes anything here but this test
        api = Api(app, project, token_for(f"manage_test:{project}"))
        api.create({"arrayOfStringExample": ["horses", "Häuser"]}, key="k-1")
        api.create({"arrayOfStringExample": ["horses graze"]}, key="k-2")
        queries = [
            ("text.en=horse", 2),
            ("text.xx=horse", 0),
            ("text.xx=horses", 2),
            ("text.de=Haus", 1),
            ("text.xx=horsse&fuzzy=true", 2),
            ("text.xx=horsse&fuzzy=true&fuzzyLevel=0", 0),
            ("text.en=horse graze", 1),
        ]
        for _ in range(2):
            for query, found in queries:
                assert api.get(f"/searchApiPattern?{query}").get_json()["total"] == found, query
            assert index_texts(connection, project) == 0
    assert connection.execute(texts, (project,)).fetchone() == (0,)


def test_texts_are_indexed_some_at_a_time_by_whoever_takes_them(
    connection: Connection, project: str, database_url: str
) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO unindexed_text (project_key, text) VALUES (%s, %s)",
            [(project, f"w{number} shared") for number in range(150)],
        )
    with psycopg.connect(database_url) as another:
        # It has taken 64 and is not done yet.
        another.execute(
            # An array, since a subquery of IN may be planned to run, and to lock, once for each row.
            "DELETE FROM unindexed_text WHERE id = ANY (ARRAY"
            " (SELECT id FROM unindexed_text WHERE project_key = %s LIMIT 64 FOR UPDATE))",
            (project,),
        )
        assert index_texts(connection, project) == 150 - 64
        assert index_texts(connection, project) == 0
        assert connection.execute("SELECT count(*) FROM word WHERE project_key = %s", (project,)).fetchone() == (
            150 - 64 + 1,
        )
        another.rollback()
    assert index_texts(connection, project) == 0
    assert dictionary(connection, project) == {"shared", *(f"w{number}" for number in range(150))}


@pytest.mark.skipif(not on_cluster(), reason="one machine has no workers")
def test_a_worker_of_a_cluster_indexes_texts_by_itself(connection: Connection, project: str) -> None:
    connection.execute("INSERT INTO unindexed_text (project_key, text) VALUES (%s, 'red dog')", (project,))
    sent: list[str] = []
    connection.add_notice_handler(lambda notice: sent.append(notice.message_primary or ""))
    connection.execute("SET citus.log_remote_commands = on")
    assert index_texts(connection, project) == 0
    connection.execute("RESET citus.log_remote_commands")
    words = [text.removeprefix("issuing ").split()[0] for text in sent]
    # Neither a COPY of words that the coordinator got, nor a PREPARE TRANSACTION.
    assert words == ["BEGIN", "SELECT", "INSERT", "DELETE", "COMMIT"]
    assert dictionary(connection, project) == {"red", "dog"}


def test_the_cache_has_the_words_that_a_connection_has_seen_committed(
    connection: Connection, project: str, database_url: str
) -> None:
    cache = WordCache()

    def may_be_new(*texts: str, of: str = project, by: Connection = connection) -> bool:
        return bool(cache.new_words(by, of, [texts]))

    added = cache.new_words(connection, project, [["red dog", "blue"], [], ["dog"]])
    assert added.pieces == ("red", "dog", "blue")
    with connection.transaction():
        cache.add(connection, project, added)
    assert may_be_new("red")
    cache.add(connection, project, added)
    assert not may_be_new("blue dog", "red\tred")
    assert may_be_new("Red")
    assert may_be_new("red cat")
    assert may_be_new("red", of=f"{project}x")
    assert cache.new_words(connection, project, [["red cat", "blue dog"]]).text == "cat"
    assert not may_be_new("red " * 5000)
    assert not may_be_new("", "<\t")
    with psycopg.connect(database_url, autocommit=True) as another:
        assert may_be_new("red", by=another)


def test_what_is_cached_is_forgotten_after_a_minute(
    connection: Connection, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection to a pooler outlives a database that is exchanged behind it, and an operator may remove words."""
    cache, later = WordCache(), time.monotonic() + 100
    cache.add(connection, project, cache.new_words(connection, project, [["red"]]))
    assert not cache.new_words(connection, project, [["red"]])
    monkeypatch.setattr("app.resource.searching.dictionary.monotonic", lambda: later)
    again = cache.new_words(connection, project, [["red"]])
    assert again
    cache.add(connection, project, again)
    assert not cache.new_words(connection, project, [["red"]])


def test_words_that_no_resource_has_are_removed_and_those_written_meanwhile_are_added(
    api: Api, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(key: str, *texts: str) -> None:
        api.create({"arrayOfStringExample": texts}, key=key)

    create("k-1", "kept")
    removed = api.create({"arrayOfStringExample": ["secret", "kept"]}, key="k-2")
    api.update(api.create({}, key="k-3"), {"action": "changeSomeProperty", "someProperty": "staged", "staged": True})
    assert api.delete(f"/{removed['id']}").status_code == 200
    assert dictionary(connection, api.project) == {"kept", "secret", "staged"}
    waited: list[float] = []

    def write_meanwhile(seconds: float) -> None:
        waited.append(seconds)
        assert dictionary(connection, api.project) == {"kept", "staged"}
        # As a write does whose connection remembers that the word is there.
        connection.execute("UPDATE resource SET some_property = 'secret' WHERE project_key = %s", (api.project,))
        assert dictionary(connection, api.project) == {"kept", "staged"}

    monkeypatch.setattr("app.bulk.consistency.time.sleep", write_meanwhile)
    assert (api.project, 1) in list(consistency.remove_unused_words(connection))
    assert waited == [60]
    assert dictionary(connection, api.project) == {"kept", "secret", "staged"}


def test_the_cache_of_a_connection_is_bounded(connection: Connection, project: str) -> None:
    cache = WordCache()
    for number in range(25):
        many = " ".join(f"{number}-{other}" for other in range(1000))
        for text in (many, "x" * 65):
            cache.add(connection, project, cache.new_words(connection, project, [[text]]))
    assert 0 < cache.size(connection) <= 10_000
    assert cache.new_words(connection, project, [["x" * 65]])


def test_writers_of_the_same_new_words_all_succeed_while_their_texts_are_indexed(
    api: Api, connection: Connection
) -> None:
    chance = random.Random(7)  # noqa: S311 -- data, not secrets
    vocabulary = [f"word{number}" for number in range(60)]

    def write(number: int) -> Any:
        chosen = chance.sample(vocabulary, 40)
        return api.post(json={"key": f"k-{number}", "objectTypeProperty": {"arrayOfStringExample": chosen}})

    for begin in (0, 16, 32):
        answers = send_concurrently(16, lambda number, begin=begin: write(begin + number))
        assert {answer.status_code for answer in answers} == {201}
    dictionary(connection, api.project)
    row = connection.execute(
        "SELECT count(*) FROM resource r, unnest(tsvector_to_array(r.words)) w"
        " WHERE r.project_key = %s AND NOT EXISTS (SELECT FROM word k WHERE k.project_key = %s AND k.word = w)",
        (api.project, api.project),
    ).fetchone()
    assert row == (0,)
    answer = api.get("/searchApiPattern", query_string={"text.xx": "word7"})
    assert answer.get_json()["count"] > 0


def test_batches_and_single_writes_of_the_same_words_do_not_deadlock(database_url: str, project: str) -> None:
    def batch(number: int) -> None:
        chance = random.Random(number)  # noqa: S311 -- data, not secrets
        barrier.wait(timeout=30)
        with psycopg.connect(database_url, autocommit=True) as connection:
            for step in range(8):
                made = [
                    stored(f"k-{number}-{step}-{one}", *chance.sample([f"w{step}x{n}" for n in range(50)], 30))
                    for one in range(chance.choice((1, 20)))
                ]
                with connection.transaction():
                    bulk_store.insert_many(connection, project, made)

    barrier = Barrier(6)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(batch, range(6)))
