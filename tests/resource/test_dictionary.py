"""The dictionary of a project's words, to which every write adds its words."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import psycopg
import pytest

from app.bulk import all_projects
from app.database.connection import Connection
from app.resource import bulk_store
from app.resource.model import ResourceRow
from tests.support.api import Api, send_concurrently
from tests.support.rows import made


def dictionary(connection: Connection, project: str) -> set[str]:
    rows = connection.execute("SELECT w.word FROM word w WHERE w.project_key = %s", (project,)).fetchall()
    return {row[0] for row in rows}


def stored(key: str, *texts: str, staged: str | None = None) -> ResourceRow:
    array = json.dumps({"arrayOfStringExample": texts}, separators=(",", ":"))
    staged_array = None if staged is None else f'{{"arrayOfStringExample":["{staged}"]}}'
    return made(array, key=key, some_property="of property", staged=staged_array)


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
    expected |= {"copied", "copiedstaged", "of", "property"}
    assert dictionary(connection, api.project) == expected


def test_the_words_of_a_write_that_is_refused_find_nothing(api: Api, connection: Connection) -> None:
    api.create({}, key="k-1")
    body = {"key": "k-1", "version": 7, "objectTypeProperty": {"arrayOfStringExample": ["refused"]}}
    assert api.patch(json=body).status_code == 409
    assert api.get("/searchApiPattern?text.en=refused").get_json()["total"] == 0
    assert api.patch(json={**body, "version": 1}).status_code == 200
    assert api.get("/searchApiPattern?text.en=refused").get_json()["total"] == 1
    assert dictionary(connection, api.project) == {"refused"}


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
        # As a write does that has seen the word before it was removed.
        connection.execute("UPDATE resource SET some_property = 'secret' WHERE project_key = %s", (api.project,))
        connection.execute("DELETE FROM word WHERE project_key = %s AND word = 'secret'", (api.project,))

    monkeypatch.setattr("app.bulk.all_projects.time.sleep", write_meanwhile)
    assert (api.project, 1) in list(all_projects.remove_unused_words(connection, 8.0))
    assert waited == [8.0]
    assert dictionary(connection, api.project) == {"kept", "secret", "staged"}
    connection.execute("DELETE FROM word WHERE project_key = %s AND word = 'secret'", (api.project,))
    list(all_projects.remove_unused_words(connection, 8.0))
    assert dictionary(connection, api.project) == {"kept", "secret", "staged"}, "as after an interruption"


def test_writers_of_the_same_new_words_all_succeed(api: Api, connection: Connection) -> None:
    chance = random.Random(7)  # noqa: S311 -- data, not secrets
    vocabulary = [f"word{number}" for number in range(60)]

    def write(number: int) -> Any:
        chosen = chance.sample(vocabulary, 40)
        return api.post(json={"key": f"k-{number}", "objectTypeProperty": {"arrayOfStringExample": chosen}})

    for begin in (0, 16, 32):
        answers = send_concurrently(16, lambda number, begin=begin: write(begin + number))
        assert {answer.status_code for answer in answers} == {201}
    row = connection.execute(
        "SELECT count(*) FROM resource r, unnest(tsvector_to_array(r.words)) w"
        " WHERE r.project_key = %s AND NOT EXISTS (SELECT FROM word k WHERE k.project_key = %s AND k.word = w)",
        (api.project, api.project),
    ).fetchone()
    assert row == (0,)
    assert api.get("/searchApiPattern", query_string={"text.xx": "word7"}).get_json()["count"] > 0


def test_batches_and_single_writes_of_the_same_words_do_not_deadlock(database_url: str, project: str) -> None:
    def batch(number: int) -> None:
        chance = random.Random(number)  # noqa: S311 -- data, not secrets
        barrier.wait(timeout=30)
        with psycopg.connect(database_url, autocommit=True) as connection:
            for step in range(8):
                rows = [
                    stored(f"k-{number}-{step}-{one}", *chance.sample([f"w{step}x{n}" for n in range(50)], 30))
                    for one in range(chance.choice((1, 20)))
                ]
                bulk_store.copy_in(connection, project, rows)

    barrier = Barrier(6)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(batch, range(6)))
