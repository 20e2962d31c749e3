"""Concurrent writers: of those that expect the same version exactly one succeeds, and no update is lost or repeated."""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from psycopg.errors import DeadlockDetected
from werkzeug.test import TestResponse

from app.database.connection import Connection
from app.resource.model import ById, Caller, Resource
from app.resource.writing import store
from tests.support.api import Api, send_concurrently

WRITERS = 64
UPDATES = 50
PATIENCE_S = 0.2
"""The longest random wait of a writer before it tries again."""

Write = Callable[[Api, dict[str, Any], int], TestResponse]


def update_by_actions(api: Api, resource: dict[str, Any], number: int) -> TestResponse:
    action = {"action": "changeSomeProperty", "someProperty": str(number)}
    return api.post(f"/{resource['id']}", json={"version": resource["version"], "actions": [action]})


def put(api: Api, resource: dict[str, Any], number: int) -> TestResponse:
    return api.put(json=_body(resource, number, version=resource["version"]))


def patch(api: Api, resource: dict[str, Any], number: int) -> TestResponse:
    return api.patch(json=_body(resource, number, version=resource["version"]))


def post(api: Api, resource: dict[str, Any], number: int) -> TestResponse:
    return api.post(json=_body(resource, number, version=resource["version"]))


def put_if_match(api: Api, resource: dict[str, Any], number: int) -> TestResponse:
    return api.put(json=_body(resource, number), headers={"If-Match": f'"{resource["version"]}"'})


def _body(resource: dict[str, Any], number: int, **fields: Any) -> dict[str, Any]:
    return {"key": resource["key"], "objectTypeProperty": {"arrayOfIntExample": [number]}, **fields}


def race(api: Api, resource_id: str, write: Write, refused: int) -> list[int]:
    """Let the writers read, modify and write until so many updates have succeeded; return the versions written.

    A writer whose version is stale takes the current one from the error and tries again after a random wait, as real
    clients do. Without the wait, most attempts would fail again.
    """
    numbers = count()
    remaining = iter(range(UPDATES))

    def work() -> list[int]:
        won: list[int] = []
        resource = api.get(f"/{resource_id}").get_json()
        for _ in remaining:
            # Each refusal tells of a write of somebody else since the last one, of which there are so many.
            for _ in range(UPDATES + 1):
                answer = write(api, resource, next(numbers))
                if answer.status_code == 200:
                    expected, resource = resource["version"], answer.get_json()
                    assert resource["version"] == expected + 1
                    won.append(resource["version"])
                    break
                assert answer.status_code == refused, answer.text
                actual = answer.get_json()["errors"][0].get("currentVersion")
                time.sleep(random.uniform(0, PATIENCE_S))  # noqa: S311 -- no secret
                resource = {**resource, "version": actual} if actual else api.get(f"/{resource_id}").get_json()
            else:
                pytest.fail(f"refused {UPDATES + 1} times, at last with {resource['version']} as the current version")
        return won

    with ThreadPoolExecutor(WRITERS) as pool:
        futures = [pool.submit(work) for _ in range(WRITERS)]
        return [version for future in futures for version in future.result()]


@pytest.mark.parametrize(
    ("write", "refused"),
    [
        pytest.param(update_by_actions, 409, id="update by actions"),
        pytest.param(put, 409, id="PUT"),
        pytest.param(patch, 409, id="PATCH"),
        pytest.param(post, 409, id="POST"),
        pytest.param(put_if_match, 412, id="PUT with If-Match"),
    ],
)
def test_exactly_one_of_sixty_four_writers_writes_each_version(api: Api, write: Write, refused: int) -> None:
    created = api.create(key="contended")
    assert sorted(race(api, created["id"], write, refused)) == list(range(2, UPDATES + 2))
    assert api.get(f"/{created['id']}").get_json()["version"] == UPDATES + 1


def test_racing_creates_that_expect_a_version_overwrite_only_that_version(api: Api) -> None:
    answers = send_concurrently(
        32,
        lambda number: api.put(
            json={"key": "one", "version": 1, "objectTypeProperty": {"arrayOfIntExample": [number]}}
        ),
    )
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 1, 409: 30}


def test_a_delete_and_racing_updates_happen_one_after_the_other(api: Api) -> None:
    for _ in range(10):
        created = api.create(key="doomed")

        def work(number: int, created: dict[str, Any] = created) -> TestResponse:
            if number == 7:
                return api.delete(f"/{created['id']}")
            return api.post(
                f"/{created['id']}", json={"version": created["version"], "actions": [{"action": "doSomeThing"}]}
            )

        answers = send_concurrently(16, work)
        deleted, updates = answers[7], answers[:7] + answers[8:]
        assert deleted.status_code == 200
        by_status = Counter(answer.status_code for answer in updates)
        assert set(by_status) <= {200, 404, 409}
        assert by_status[200] <= 1
        # The answer to the delete shows the last version, with the update if one happened before.
        assert deleted.get_json()["version"] == 1 + by_status[200]
        assert api.get(f"/{created['id']}").status_code == 404


def test_upserts_and_deletes_of_one_key_never_fail(api: Api) -> None:
    def work(number: int) -> TestResponse:
        found = api.get("/key=flickering")
        if number % 3 == 0 and found.status_code == 200:
            return api.delete(f"/{found.get_json()['id']}")
        return api.put(json={"key": "flickering", "objectTypeProperty": {"arrayOfIntExample": [number]}})

    with ThreadPoolExecutor(32) as pool:
        statuses = Counter(answer.status_code for answer in pool.map(work, range(600)))
    assert set(statuses) <= {200, 201, 404}
    assert api.get().get_json()["total"] <= 1


def test_a_write_that_has_waited_is_dated_after_the_one_that_it_waited_for(api: Api, connection: Connection) -> None:
    resource = api.create()
    with connection.transaction():
        connection.execute("SELECT pg_sleep(0.01)")
        api.update(resource, {"action": "doSomeThing"})
        found = store.find(connection, api.project, ById(resource["id"]), locks=True)
        assert found is not None
        written = store.save(connection, Caller(api.project, "c"), found, replace(found, version=found.version + 1))
    assert written is not None
    assert written.resource.last_modified_at >= found.last_modified_at > found.created_at


@pytest.mark.parametrize("write", [update_by_actions, put, patch, post, put_if_match])
def test_a_write_that_is_ended_as_a_deadlock_is_decided_anew(
    api: Api, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    """As Citus does to one of many writers of a row."""
    resource = api.create(key="pair")
    left = end_as_deadlocks(monkeypatch, times=2)
    written = write(api, resource, 1)
    assert (written.status_code, written.get_json()["version"]) == (200, 2)
    assert not left


def test_a_deletion_that_is_ended_as_a_deadlock_is_decided_anew(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = api.create()
    left = end_as_deadlocks(monkeypatch, times=2)
    assert api.delete(f"/{resource['id']}?version=1").status_code == 200
    assert not left


def end_as_deadlocks(monkeypatch: pytest.MonkeyPatch, times: int) -> list[DeadlockDetected]:
    """Have the next attempts of writes end as deadlocks; returns those that have not yet."""
    left = [DeadlockDetected() for _ in range(times)]

    def find(*arguments: Any, **options: Any) -> Resource | None:
        found = store.find(*arguments, **options)
        if left:
            raise left.pop()
        return found

    monkeypatch.setattr("app.resource.writing.writes.store", SimpleNamespace(**vars(store) | {"find": find}))
    return left
