"""PUT on the collection (interface 4.8): overwrite a resource, or create it if it does not exist."""

from typing import Any

import pytest

from app.database.connection import Connection
from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, send_concurrently

NEW: dict[str, Any] = {"arrayOfIntExample": [5], "arrayOfStringExample": []}


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
