"""Update of a resource by actions (interface 4.10)."""

from typing import Any

import pytest

from tests.support.api import Api, codes, details, send_concurrently

DO = {"action": "doSomeThing"}


def change(text: str, **more: Any) -> dict[str, Any]:
    """The action that sets someProperty."""
    return {"action": "changeSomeProperty", "someProperty": text, **more}


def send(api: Api, resource: dict[str, Any], *actions: Any, **fields: Any) -> Any:
    """Send actions with the version of a resource, or another one."""
    body = {"version": resource["version"], "actions": list(actions), **fields}
    return api.post(f"/{resource['id']}", json=body)


@pytest.mark.parametrize("version", [1, 3, 2.5, 0, -2, 10**25, 1e300])
@pytest.mark.parametrize("actions", [[], [DO], [change("a")]])
def test_a_version_that_differs_is_a_conflict(api: Api, version: float, actions: list[dict[str, Any]]) -> None:
    resource = api.update(api.create(), change("a"))
    answer = send(api, resource, *actions, version=version)
    assert answer.status_code == 409
    assert codes(answer) == ["ConcurrentModification"]
    error = answer.get_json()["errors"][0]
    assert error["currentVersion"] == 2
    assert error["message"].endswith("- Actual: 2.")
    assert api.get(f"/{resource['id']}").get_json() == resource


def test_a_conflict_has_the_error_of_the_platform(api: Api) -> None:
    created = api.create()
    message = f"Object {created['id']} has a different version than expected. Expected: 7 - Actual: 1."
    assert send(api, created, version=7).get_json() == {
        "statusCode": 409,
        "message": message,
        "errors": [{"code": "ConcurrentModification", "message": message, "currentVersion": 1}],
    }


def test_five_hundred_actions_are_accepted_and_one_more_is_not(api: Api) -> None:
    created = api.create()
    actions = [change(str(number)) for number in range(501)]
    refused = send(api, created, *actions)
    assert refused.status_code == 400
    assert codes(refused) == ["InvalidField"]
    assert details(refused) == ["actions"]
    assert api.get(f"/{created['id']}").get_json() == created
    accepted = send(api, created, *actions[:500])
    assert accepted.status_code == 200
    assert accepted.get_json()["someProperty"] == "499"
    assert accepted.get_json()["version"] == 2


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"actions": []}, ["version: Missing required value"]),
        ({"version": 1}, ["actions: Missing required value"]),
        ({}, ["version: Missing required value", "actions: Missing required value"]),
        ({"version": "1", "actions": []}, ["version: JSON Number expected."]),
        ({"version": True, "actions": []}, ["version: JSON Number expected."]),
        ({"version": None, "actions": []}, ["version: JSON Number expected."]),
        ({"version": 1, "actions": {}}, ["actions: JSON Array expected."]),
        ({"version": 1, "actions": None}, ["actions: JSON Array expected."]),
        ({"version": 1, "actions": [DO, "x"]}, ["actions -> 1: JSON object expected."]),
        ({"version": 1, "actions": [None]}, ["actions -> 0: JSON object expected."]),
        ({"version": 1, "actions": [{}]}, ["actions -> 0 -> action: Missing required value"]),
        ({"version": 1, "actions": [{"action": 5}]}, ["actions -> 0 -> action: JSON String expected."]),
        (
            {"version": 1, "actions": [{"action": "changeSomeProperty"}]},
            ["actions -> 0 -> someProperty: Missing required value"],
        ),
        (
            {"version": 1, "actions": [{"action": "changeSomeProperty", "someProperty": None}]},
            ["actions -> 0 -> someProperty: JSON String expected."],
        ),
        (
            {"version": 1, "actions": [change("x", staged="true")]},
            ["actions -> 0 -> staged: JSON Boolean expected."],
        ),
    ],
)
def test_the_message_for_a_malformed_body_has_the_path(api: Api, body: dict[str, Any], found: list[str]) -> None:
    created = api.create()
    answer = api.post(f"/{created['id']}", json=body)
    assert answer.status_code == 400
    assert set(codes(answer)) == {"InvalidJsonInput"}
    assert details(answer) == found
    assert api.get(f"/{created['id']}").get_json() == created


@pytest.mark.parametrize("name", ["doSomething", "", "publish ", "setKey", 300 * "x"])
def test_the_message_for_an_unknown_action_lists_the_known_ones(api: Api, name: str) -> None:
    created = api.create()
    answer = send(api, created, DO, {"action": name})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    [detail] = details(answer)
    assert detail.startswith("actions -> 1 -> action: ")
    for known in ("doSomeThing", "changeSomeProperty", "publish", "revertStagedChanges"):
        assert f"'{known}'" in detail
    assert api.get(f"/{created['id']}").get_json() == created


@pytest.mark.parametrize(
    ("action", "place"),
    [
        (DO | {"staged": True}, "actions -> 0 -> staged: "),
        ({"action": "publish", "scope": "All"}, "actions -> 0 -> scope: "),
        (change("x", someProprety="y"), "actions -> 0 -> someProprety: "),
    ],
)
def test_an_unknown_field_of_an_action_is_refused(api: Api, action: dict[str, Any], place: str) -> None:
    answer = send(api, api.create(), action)
    assert answer.status_code == 400
    [detail] = details(answer)
    assert detail.startswith(place)


def test_unknown_fields_of_the_body_are_refused(api: Api) -> None:
    created = api.create()
    answer = send(api, created, key="a-key", action=[])
    assert answer.status_code == 400
    assert sorted(detail.split(":")[0] for detail in details(answer)) == ["action", "key"]
    assert "'actions'" in answer.text


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "a\udfff"])
def test_a_text_that_cannot_be_stored_is_refused(api: Api, text: str) -> None:
    created = api.create()
    answer = send(api, created, DO, change(text))
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidField"]
    assert details(answer) == ["actions -> 1 -> someProperty"]
    assert api.get(f"/{created['id']}").get_json() == created


def test_all_faulty_actions_are_in_one_answer(api: Api) -> None:
    answer = send(api, api.create(), {"action": "nothing"}, DO, change("\x00"), {"action": "changeSomeProperty"})
    assert answer.status_code == 400
    assert sorted(codes(answer)) == ["InvalidField", "InvalidJsonInput", "InvalidJsonInput"]
    assert sorted(detail.split(":")[0] for detail in details(answer)) == [
        "actions -> 0 -> action",
        "actions -> 2 -> someProperty",
        "actions -> 3 -> someProperty",
    ]


def test_exactly_one_of_racing_updates_that_expect_a_version_succeeds(api: Api) -> None:
    created = api.create()
    answers = send_concurrently(8, lambda number: send(api, created, change(str(number))))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    winner = next(answer.get_json() for answer in answers if answer.status_code == 200)
    assert api.get(f"/{created['id']}").get_json() == winner
