"""PUT on the collection (interface 4.8): overwrite a resource, or create it if it does not exist."""

from typing import Any

import pytest

from app.database.connection import Connection
from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes, details, send_concurrently

NEW: dict[str, Any] = {"arrayOfIntExample": [5], "arrayOfStringExample": []}


def total(api: Api) -> int:
    """The number of resources of the project."""
    return api.get("?limit=0").get_json()["total"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_resource_that_gets_a_key_is_unnamed_no_more(api: Api, method: str) -> None:
    first = api.put({"objectTypeProperty": EXAMPLE}).get_json()
    body = {"id": first["id"], "key": "a-key", "version": 1, "objectTypeProperty": EXAMPLE}
    named = api.request(method, json=body).get_json()
    assert (named["id"], named["key"], named["version"]) == (first["id"], "a-key", 2)
    assert api.patch({"version": 2, "objectTypeProperty": NEW}).status_code == 404
    second = api.put({"objectTypeProperty": NEW})
    assert second.status_code == 201
    assert api.put({"objectTypeProperty": EXAMPLE}).get_json()["id"] == second.get_json()["id"]
    assert api.get("/key=a-key").get_json() == named


def test_a_mark_on_a_resource_with_a_key_means_nothing(api: Api, connection: Connection) -> None:
    """Processes of 0.2.0 set such marks while an update is under way."""
    named = api.create(key="a-key")
    connection.execute("UPDATE resource SET unnamed = true WHERE project_key = %s", (api.project,))
    connection.commit()
    created = api.put({"objectTypeProperty": NEW})
    assert created.status_code == 201
    assert api.put({"objectTypeProperty": EXAMPLE}).get_json()["id"] == created.get_json()["id"]
    assert api.get("/key=a-key").get_json() == named


def test_put_with_id_and_key_sets_the_key_and_a_key_in_use_is_400(api: Api) -> None:
    api.create(key="taken")
    created = api.create()
    duplicate = api.put({"id": created["id"], "key": "taken", "objectTypeProperty": NEW})
    assert duplicate.status_code == 400
    assert codes(duplicate) == ["DuplicateField"]
    assert details(duplicate) == ["key"]
    assert api.get(f"/{created['id']}").get_json() == created
    keyed = api.put({"id": created["id"], "key": "new", "objectTypeProperty": NEW})
    assert (keyed.status_code, keyed.get_json()["key"], keyed.get_json()["version"]) == (200, "new", 2)


def test_concurrent_puts_in_an_empty_project_create_one_resource(api: Api) -> None:
    answers = send_concurrently(8, lambda number: api.put({"objectTypeProperty": {"arrayOfIntExample": [number]}}))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.get_json()["id"] for answer in answers}) == 1
    assert sorted(answer.get_json()["version"] for answer in answers) == list(range(1, 9))
    assert total(api) == 1


def test_concurrent_puts_beside_others_create_and_choose_one_resource(api: Api) -> None:
    others = [api.create(), api.create()]
    answers = send_concurrently(16, lambda number: api.put({"objectTypeProperty": {"arrayOfIntExample": [number]}}))
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert len({answer.get_json()["id"] for answer in answers}) == 1
    assert sorted(answer.get_json()["version"] for answer in answers) == list(range(1, 17))
    assert [api.get(f"/{other['id']}").get_json() for other in others] == others
    assert total(api) == 3


def test_puts_that_race_with_posts_and_deletions_choose_one_resource_at_a_time(api: Api) -> None:
    def work(number: int) -> list[int]:
        statuses: list[int] = []
        for _ in range(6):
            match number % 3:
                case 0:
                    answer = api.put({"objectTypeProperty": {"arrayOfIntExample": [number]}})
                case 1:
                    answer = api.post(json={"objectTypeProperty": {}})
                case _:
                    found = api.get("?limit=1").get_json()["results"]
                    answer = api.delete(f"/{found[0]['id'] if found else UNKNOWN_ID}")
            statuses.append(answer.status_code)
        return statuses

    statuses = {status for each in send_concurrently(9, work) for status in each}
    assert statuses <= {200, 201, 404}
    before = api.get("?limit=500").get_json()["results"]
    unnamed = [api.put({"objectTypeProperty": {"arrayOfIntExample": [number]}}).get_json()["id"] for number in (1, 2)]
    assert unnamed[0] == unnamed[1]
    after = api.get("?limit=500").get_json()["results"]
    assert [one for one in after if one["id"] != unnamed[0]] == [one for one in before if one["id"] != unnamed[0]]


def test_concurrent_puts_with_one_key_create_one_resource(api: Api) -> None:
    bodies = [{"key": "a-key", "objectTypeProperty": {"arrayOfIntExample": [number]}} for number in range(8)]
    answers = send_concurrently(8, lambda number: api.put(bodies[number]))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert api.get("/key=a-key").get_json()["version"] == 8
    assert total(api) == 1


def test_of_concurrent_puts_with_one_version_one_is_200_and_the_others_are_409(api: Api) -> None:
    api.create()
    answers = send_concurrently(
        8, lambda number: api.put({"version": 1, "objectTypeProperty": {"arrayOfIntExample": [number]}})
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    winner = next(answer.get_json() for answer in answers if answer.status_code == 200)
    assert api.get(f"/{winner['id']}").get_json() == winner
