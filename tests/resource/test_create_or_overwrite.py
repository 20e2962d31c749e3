"""PUT on the collection (interface 4.8): overwrite a resource, or create it if it does not exist."""

from typing import Any

import pytest
from flask import Flask

from app.database.connection import Connection
from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes, details, send_concurrently

NEW: dict[str, Any] = {"arrayOfIntExample": [5], "arrayOfStringExample": []}


def total(api: Api) -> int:
    """The number of resources of the project."""
    return api.get("?limit=0").get_json()["total"]


@pytest.mark.clause("4.8-1", "4.8-2", "4.8-4", "4.8-9", "4.6-11", "4.6-12", "H-1")
def test_put_creates_a_resource_and_then_overwrites_it(api: Api) -> None:
    first = api.put({"version": 1, "objectTypeProperty": EXAMPLE})
    created = first.get_json()
    assert first.status_code == 201
    assert created["version"] == 1
    assert created["objectTypeProperty"] == EXAMPLE
    assert first.headers["Location"] == f"/{api.project}/resource/{created['id']}"
    assert first.headers["ETag"] == '"1"'
    second = api.put({"version": 1, "objectTypeProperty": NEW})
    assert second.status_code == 200
    assert "Location" not in second.headers
    assert second.headers["ETag"] == '"2"'
    assert second.get_json()["id"] == created["id"]
    assert second.get_json()["objectTypeProperty"] == NEW
    assert api.get(f"/{created['id']}").get_json() == second.get_json()


@pytest.mark.clause("4.8-6")
def test_put_without_a_version_is_accepted(api: Api) -> None:
    assert api.put({"objectTypeProperty": EXAMPLE}).status_code == 201
    assert api.put({"objectTypeProperty": NEW}).get_json()["version"] == 2


@pytest.mark.clause("9-12", "9-13")
def test_put_compares_the_version_only_if_the_resource_exists(api: Api) -> None:
    for name in ({}, {"key": "a-key"}):
        assert api.put({**name, "version": 7, "objectTypeProperty": EXAMPLE}).status_code == 201
        stale = api.put({**name, "version": 7, "objectTypeProperty": NEW})
        assert stale.status_code == 409
        assert stale.get_json()["errors"][0]["currentVersion"] == 1


@pytest.mark.clause("4.8-4", "4.8-7")
def test_put_overwrites_the_only_resource_without_a_key_also_if_post_created_it(api: Api) -> None:
    named, created = api.create(key="a-key"), api.create()
    answer = api.put({"objectTypeProperty": NEW})
    assert answer.status_code == 200
    assert answer.get_json()["id"] == created["id"]
    assert api.get("/key=a-key").get_json() == named


@pytest.mark.clause("4.8-4", "4.8-10")
def test_put_without_id_and_key_never_overwrites_a_resource_that_has_a_key(api: Api) -> None:
    named = [api.create(key="aaa")]
    unnamed = api.put({"objectTypeProperty": EXAMPLE})
    assert unnamed.status_code == 201
    named.append(api.create(key="bbb"))
    api.delete(f"/{unnamed.get_json()['id']}")
    assert api.put({"objectTypeProperty": NEW}).status_code == 201
    assert [api.get(f"/key={each['key']}").get_json() for each in named] == named


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


@pytest.mark.clause("4.8-5")
def test_put_creates_the_unnamed_resource_beside_several_others_and_keeps_to_it(api: Api) -> None:
    others = [api.create(), api.create()]
    created = api.put({"objectTypeProperty": EXAMPLE})
    assert created.status_code == 201
    unnamed = created.get_json()
    assert unnamed["id"] not in {other["id"] for other in others}
    api.create()
    overwritten = api.put({"objectTypeProperty": NEW})
    assert (overwritten.status_code, overwritten.get_json()["id"]) == (200, unnamed["id"])
    patched = api.patch({"version": 2, "objectTypeProperty": EXAMPLE})
    assert (patched.status_code, patched.get_json()["id"]) == (200, unnamed["id"])
    assert [api.get(f"/{other['id']}").get_json() for other in others] == others
    assert total(api) == 4


@pytest.mark.clause("4.8-4", "4.8-5")
def test_the_only_resource_stays_the_unnamed_one_when_others_come(api: Api) -> None:
    first = api.create()
    same = api.put({"objectTypeProperty": first["objectTypeProperty"]})
    assert same.get_json() == first, "to be chosen changes nothing that a client sees"
    api.create()
    assert api.put({"objectTypeProperty": NEW}).get_json()["id"] == first["id"]
    assert total(api) == 2


@pytest.mark.clause("4.8-4", "4.8-5")
def test_after_the_unnamed_resource_was_deleted_the_next_put_chooses_anew(api: Api) -> None:
    first = api.put({"objectTypeProperty": EXAMPLE}).get_json()
    second, third = api.create(), api.create()
    api.delete(f"/{first['id']}")
    created = api.put({"objectTypeProperty": NEW})
    assert created.status_code == 201, "several are left, none of them chosen"
    api.delete(f"/{created.get_json()['id']}")
    api.delete(f"/{third['id']}")
    assert api.put({"objectTypeProperty": NEW}).get_json()["id"] == second["id"]
    api.delete(f"/{second['id']}")
    assert api.put({"objectTypeProperty": NEW}).status_code == 201
    assert total(api) == 1


@pytest.mark.clause("4.8-5", "9-12")
def test_a_put_that_is_refused_chooses_no_resource(api: Api) -> None:
    only = api.create()
    assert api.put({"version": 7, "objectTypeProperty": NEW}).status_code == 409
    assert api.put({"objectTypeProperty": NEW}, headers={"If-None-Match": "*"}).status_code == 412
    api.create()
    created = api.put({"objectTypeProperty": NEW})
    assert created.status_code == 201
    assert api.get(f"/{only['id']}").get_json() == only


@pytest.mark.clause("4.8-3")
def test_put_by_key_creates_or_overwrites(api: Api) -> None:
    made = api.put({"key": "a-key", "objectTypeProperty": EXAMPLE})
    assert made.status_code == 201
    assert made.get_json()["key"] == "a-key"
    overwritten = api.put({"key": "a-key", "objectTypeProperty": NEW})
    assert overwritten.status_code == 200
    assert overwritten.get_json()["id"] == made.get_json()["id"]
    assert overwritten.get_json()["objectTypeProperty"] == NEW
    assert api.put({"key": "another-key", "objectTypeProperty": NEW}).status_code == 201
    assert total(api) == 2


@pytest.mark.clause("4.6-7")
def test_put_with_an_unknown_id_is_404_and_creates_nothing(api: Api) -> None:
    for name in ({"id": UNKNOWN_ID}, {"id": "no-uuid"}, {"id": UNKNOWN_ID, "key": "a-key"}):
        answer = api.put({**name, "objectTypeProperty": NEW})
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]
    assert total(api) == 0


@pytest.mark.clause("2.2-11", "4.6-8")
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


@pytest.mark.clause("9-4")
def test_put_without_a_change_keeps_version_and_time(api: Api) -> None:
    created = api.put({"objectTypeProperty": EXAMPLE}).get_json()
    assert api.put({"objectTypeProperty": EXAMPLE}).get_json() == created


@pytest.mark.clause("4.6-10")
def test_put_accepts_the_body_of_a_get_unchanged(api: Api) -> None:
    resource = api.update(api.create(key="a-key"), {"action": "changeSomeProperty", "someProperty": "x"})
    answer = api.put(resource)
    assert answer.status_code == 200
    assert answer.get_json() == resource


@pytest.mark.clause("9-16", "9-19")
def test_concurrent_puts_in_an_empty_project_create_one_resource(api: Api) -> None:
    answers = send_concurrently(8, lambda number: api.put({"objectTypeProperty": {"arrayOfIntExample": [number]}}))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.get_json()["id"] for answer in answers}) == 1
    assert sorted(answer.get_json()["version"] for answer in answers) == list(range(1, 9))
    assert total(api) == 1


@pytest.mark.clause("9-16", "9-19")
def test_concurrent_puts_beside_others_create_and_choose_one_resource(api: Api) -> None:
    others = [api.create(), api.create()]
    answers = send_concurrently(16, lambda number: api.put({"objectTypeProperty": {"arrayOfIntExample": [number]}}))
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert len({answer.get_json()["id"] for answer in answers}) == 1
    assert sorted(answer.get_json()["version"] for answer in answers) == list(range(1, 17))
    assert [api.get(f"/{other['id']}").get_json() for other in others] == others
    assert total(api) == 3


@pytest.mark.clause("9-16", "9-19")
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


@pytest.mark.clause("9-18")
def test_concurrent_puts_with_one_key_create_one_resource(api: Api) -> None:
    bodies = [{"key": "a-key", "objectTypeProperty": {"arrayOfIntExample": [number]}} for number in range(8)]
    answers = send_concurrently(8, lambda number: api.put(bodies[number]))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert api.get("/key=a-key").get_json()["version"] == 8
    assert total(api) == 1


@pytest.mark.clause("9-14")
def test_of_concurrent_puts_with_one_version_one_is_200_and_the_others_are_409(api: Api) -> None:
    api.create()
    answers = send_concurrently(
        8, lambda number: api.put({"version": 1, "objectTypeProperty": {"arrayOfIntExample": [number]}})
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    winner = next(answer.get_json() for answer in answers if answer.status_code == 200)
    assert api.get(f"/{winner['id']}").get_json() == winner


@pytest.mark.clause("A-10", "A-14")
def test_put_with_scope_view_test_is_403(app: Flask, api: Api, token_for: TokenFor) -> None:
    viewer = Api(app, api.project, token_for(f"view_test:{api.project}"))
    assert viewer.put({"objectTypeProperty": NEW}).status_code == 403
    assert total(api) == 0
