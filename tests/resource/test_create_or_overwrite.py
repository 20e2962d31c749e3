"""PUT on the collection (interface 4.8): overwrite a resource, or create it if it does not exist."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from werkzeug.test import TestResponse

from app.database.connection import Connection
from app.resource.model import Caller, NewResource, OwnYoungest, Resource, Target
from app.resource.writing import store
from tests.support.api import EXAMPLE, Api, send_concurrently
from tests.support.fixtures import on_cluster
from tests.support.waiting import wait_until

NEW: dict[str, Any] = {"arrayOfIntExample": [5], "arrayOfStringExample": []}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_resource_that_gets_a_key_makes_room_for_another(api: Api, connection: Connection, method: str) -> None:
    """The mark of what PUT has created means nothing on a resource with a key."""
    first = api.put({"objectTypeProperty": EXAMPLE}).get_json()
    assert marked(connection, api.project) == [first["id"]]
    body = {"id": first["id"], "key": "a-key", "version": 1, "objectTypeProperty": EXAMPLE}
    named = api.request(method, json=body).get_json()
    assert (named["id"], named["key"], named["version"]) == (first["id"], "a-key", 2)
    assert api.patch({"version": 2, "objectTypeProperty": NEW}).status_code == 404
    second = api.put({"objectTypeProperty": NEW})
    assert second.status_code == 201
    assert api.put({"objectTypeProperty": EXAMPLE}).get_json()["id"] == second.get_json()["id"]
    assert api.get("/key=a-key").get_json() == named


def marked(connection: Connection, project: str) -> list[str]:
    """The ids of the resources that PUTs have created as the only ones without a key."""
    rows = connection.execute("SELECT id FROM resource WHERE project_key = %s AND created_as_only", (project,))
    return [str(resource_id) for (resource_id,) in rows]


def test_only_a_creation_sets_the_mark(api: Api, connection: Connection) -> None:
    """So writes that find a resource cost nothing more, and change nothing that a client could not see."""
    api.create({})
    made = api.create({})
    for body in ({"objectTypeProperty": NEW}, {"objectTypeProperty": NEW}, {"objectTypeProperty": {}}):
        for method in ("PUT", "PATCH"):
            assert api.request(method, json=body).get_json()["id"] == made["id"]
    assert api.put({"key": "a-key", "objectTypeProperty": NEW}).status_code == 201
    assert marked(connection, api.project) == []


def test_a_write_without_a_name_is_overtaken_by_what_it_has_waited_for(
    api: Api, database_url: str, connection: Connection
) -> None:
    """It has waited for the lock of the youngest, so it looks anew which one that is: here there was always one.

    One transaction takes away the youngest and creates a younger one. A creation by another connection could wait for
    it, because connections may share a row of ``resource_count``.
    """
    for number, overtake in enumerate(("DELETE FROM resource", "UPDATE resource SET key = 'a-key', version = 2")):
        made = api.create({})
        author = made["createdBy"]["id"]
        target, parameters = OwnYoungest(author), {"project_key": api.project, "id": made["id"]}
        with ThreadPoolExecutor(1) as thread, psycopg.connect(database_url) as other:
            youngest = store.find(other, api.project, target)
            assert youngest is not None
            statement = f"{overtake} WHERE project_key = %(project_key)s AND id = %(id)s"
            other.execute(statement.encode(), parameters)
            waits = thread.submit(lock, connection, api.project, target)
            until_waiting(other, connection)
            creation = NewResource(None, youngest.current, youngest.staged, author)
            younger = store.save(other, Caller(api.project, author), None, creation)
            assert younger is not None
            other.commit()
            with pytest.raises(store.Overtaken):
                waits.result()
        found = lock(connection, api.project, target)
        assert found is not None
        assert (found.id, api.get("?limit=0").get_json()["total"]) == (younger.resource.id, 2 * number + 1)


def lock(connection: Connection, project: str, target: Target) -> Resource | None:
    with connection.transaction():
        return store.find(connection, project, target, locks=True)


def until_waiting(connection: Connection, waiting: Connection) -> None:
    """Return when the session of a connection waits for a lock, on a cluster that of a worker."""
    statement, session = "SELECT cardinality(pg_blocking_pids(%s)) > 0", waiting.info.backend_pid
    if on_cluster():
        statement = "SELECT %s IN (SELECT citus_pid_for_gpid(w.waiting_gpid) FROM citus_lock_waits w)"
    wait_until(lambda: connection.execute(statement, (session,)).fetchone() == (True,))


ROUNDS = 100
NAMELESS = 8


def race_without_a_name(api: Api, other: Callable[[], TestResponse]) -> tuple[TestResponse, list[TestResponse]]:
    """Send PUTs that name nothing, and among them another write; return its answer and theirs."""

    def send(number: int) -> TestResponse:
        if number == NAMELESS // 2:
            return other()
        return api.put({"objectTypeProperty": {"arrayOfIntExample": [number]}})

    answers = send_concurrently(NAMELESS + 1, send)
    return answers.pop(NAMELESS // 2), answers


def test_racing_puts_without_a_name_never_write_what_gets_a_key(api: Api) -> None:
    """Those that come before the key write the resource, and the first that comes after makes another one."""
    for number in range(ROUNDS):
        made = api.create({})
        body = {"id": made["id"], "key": f"key-{number}", "objectTypeProperty": NEW}
        answer, others = race_without_a_name(api, lambda body=body: api.put(body))
        named = answer.get_json()
        assert api.get(f"/{made['id']}").get_json() == named
        assert sum(other.status_code == 201 for other in others) <= 1
        all_written = [other.get_json() for other in others]
        versions = [written["version"] for written in all_written if written["id"] == made["id"]]
        assert sorted(versions) == list(range(2, named["version"]))
        later = {written["id"] for written in all_written} - {made["id"]}
        assert len(later) <= 1
        for each in later:
            assert api.delete(f"/{each}").status_code == 200
        assert api.get("?limit=0").get_json()["total"] == number + 1


@pytest.mark.parametrize("others", [0, 1], ids=["the only one", "beside another"])
def test_racing_puts_without_a_name_and_a_deletion_happen_one_after_the_other(api: Api, others: int) -> None:
    """They create one only if nothing without a key is left, and then once."""
    kept = {api.create({})["id"] for _ in range(others)}
    for _ in range(ROUNDS):
        made = api.create({})
        answer, puts = race_without_a_name(api, lambda made=made: api.delete(f"/{made['id']}"))
        assert answer.status_code == 200
        created = {put.get_json()["id"] for put in puts if put.status_code == 201}
        assert len(created) <= 1 - others
        assert {put.get_json()["id"] for put in puts} <= {made["id"]} | kept | created
        assert {each["id"] for each in api.get().get_json()["results"]} == kept | created
        for each in created:
            assert api.delete(f"/{each}").status_code == 200
