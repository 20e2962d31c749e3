"""If-Match and If-None-Match on writes, and the order of the statuses 400, 404, 412 and 409."""

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.api import UNKNOWN_ID, Api, codes, send_concurrently
from tests.support.cases import paired

NEW: dict[str, Any] = {"arrayOfIntExample": [5]}

Write = Callable[..., TestResponse]


def by_id(api: Api, method: str) -> Write:
    """A function that sends POST, PUT or PATCH to the collection with the id of a resource."""

    def send(resource_id: str, headers: dict[str, str], version: int | None = 2) -> TestResponse:
        body: dict[str, Any] = {"id": resource_id, "objectTypeProperty": NEW}
        return api.request(method, json=body | ({} if version is None else {"version": version}), headers=headers)

    return send


def by_actions(api: Api) -> Write:
    """A function that sends an update by actions."""

    def send(resource_id: str, headers: dict[str, str], version: int | None = 2) -> TestResponse:
        body = {"version": version, "actions": [{"action": "doSomeThing"}]}
        return api.post(f"/{resource_id}", json=body, headers=headers)

    return send


def by_deletion(api: Api) -> Write:
    """A function that sends a DELETE."""

    def send(resource_id: str, headers: dict[str, str], version: int | None = 2) -> TestResponse:
        return api.delete(f"/{resource_id}?version={version}", headers=headers)

    return send


@pytest.fixture(params=["POST", "PUT", "PATCH", "update", "DELETE"])
def write(api: Api, request: pytest.FixtureRequest) -> Write:
    """A function for each kind of write: ``write(id, headers, version=2)``."""
    if request.param == "update":
        return by_actions(api)
    return by_deletion(api) if request.param == "DELETE" else by_id(api, request.param)


@pytest.fixture
def resource(api: Api) -> dict[str, Any]:
    """A resource with the version 2."""
    return api.update(api.create(key="a-key"), {"action": "doSomeThing"})


HOLDS = ['"2"', "*", " * ", '"1", "2"', '"2","3"', 'W/"1", "2"', '"other", "2"', ' "2" ', '"1",, "2" ,', ', "2"']
FAILS = [
    '"1"',
    '"3"',
    'W/"2"',
    '"1", W/"2"',
    '"02"',
    '"2.0"',
    '""',
    '"x"',
    '"9223372036854775808"',
    '"9999999999999999999"',
    f'"{30 * "9"}"',
]
MALFORMED = ["2", 'w/"2"', '"2', '2"', '"1" "2"', '"1"; "2"', "'2'", '"2", *', '"2", 3', "W/2", '" 2"', ",", ""]


@pytest.mark.parametrize("tags", HOLDS)
def test_a_write_with_a_matching_if_match_is_200(write: Write, resource: dict[str, Any], tags: str) -> None:
    assert write(resource["id"], {"If-Match": tags}).status_code == 200


@pytest.mark.parametrize("tags", FAILS)
def test_a_write_with_if_match_of_other_versions_is_412(
    api: Api, write: Write, resource: dict[str, Any], tags: str
) -> None:
    answer = write(resource["id"], {"If-Match": tags})
    assert answer.status_code == 412
    assert codes(answer) == ["PreconditionFailed"]
    assert api.get("/key=a-key").get_json() == resource


@pytest.mark.parametrize(("header", "tags"), paired(["If-Match", "If-None-Match"], MALFORMED))
def test_a_write_with_a_malformed_entity_tag_is_400(
    api: Api, write: Write, resource: dict[str, Any], header: str, tags: str
) -> None:
    for resource_id in (resource["id"], UNKNOWN_ID):
        answer = write(resource_id, {header: tags})
        assert answer.status_code == 400
        assert codes(answer) == ["InvalidInput"]
        assert answer.get_json()["message"].startswith(f"Malformed parameter: {header}: ")
    assert api.get("/key=a-key").get_json() == resource


@pytest.mark.parametrize("tags", ["*", '"2"', 'W/"2"', '"1", "2"'])
def test_a_write_with_a_matching_if_none_match_is_412(
    api: Api, write: Write, resource: dict[str, Any], tags: str
) -> None:
    assert write(resource["id"], {"If-None-Match": tags}).status_code == 412
    assert api.get("/key=a-key").get_json() == resource


def test_a_write_with_if_none_match_of_other_versions_is_200(write: Write, resource: dict[str, Any]) -> None:
    assert write(resource["id"], {"If-None-Match": '"1", W/"3"'}).status_code == 200


def test_a_write_to_an_unknown_id_is_404_for_any_precondition(write: Write) -> None:
    for headers in ({"If-Match": '"1"'}, {"If-Match": "*"}, {"If-None-Match": "*"}, {}):
        for resource_id in (UNKNOWN_ID, "no-uuid"):
            answer = write(resource_id, headers)
            assert answer.status_code == 404
            assert codes(answer) == ["ResourceNotFound"]


def test_a_failed_precondition_is_412_before_a_stale_version_is_409(write: Write, resource: dict[str, Any]) -> None:
    assert write(resource["id"], {"If-Match": '"1"'}, version=1).status_code == 412
    stale = write(resource["id"], {"If-Match": '"2"'}, version=1)
    assert stale.status_code == 409
    assert stale.get_json()["errors"][0]["currentVersion"] == 2
    assert write(resource["id"], {"If-None-Match": "*"}, version=1).status_code == 412
    assert write(resource["id"], {"If-None-Match": '"1"'}, version=1).status_code == 409


def test_of_concurrent_writes_with_if_none_match_star_one_creates(api: Api) -> None:
    for name in ({}, {"key": "a-key"}):
        bodies = [{**name, "objectTypeProperty": {"arrayOfIntExample": [number]}} for number in range(8)]
        answers = send_concurrently(
            8, lambda number, bodies=bodies: api.put(bodies[number], headers={"If-None-Match": "*"})
        )
        assert sorted(answer.status_code for answer in answers) == [201] + [412] * 7
        [created] = [answer.get_json() for answer in answers if answer.status_code == 201]
        assert api.get(f"/{created['id']}").get_json() == created
        api.delete(f"/{created['id']}")


def test_of_concurrent_writes_with_one_if_match_one_is_200(api: Api, write: Write, resource: dict[str, Any]) -> None:
    answers = send_concurrently(8, lambda _: write(resource["id"], {"If-Match": '"2"'}))
    happened = [answer for answer in answers if answer.status_code == 200]
    assert len(happened) == 1
    assert {answer.status_code for answer in answers} <= {200, 412, 404}
