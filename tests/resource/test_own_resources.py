"""Writes that name no resource mean one of the caller's own: two API clients side by side, and races."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.support.api import EXAMPLE, Api, codes, send_concurrently
from tests.support.fixtures import TokenFor

ROUNDS = 100
OTHER: dict[str, Any] = {"arrayOfIntExample": [5]}


@pytest.fixture
def colleague(app: Flask, project: str, token_for: TokenFor) -> Api:
    """Another API client with the scope ``manage_test`` of the same project."""
    return Api(app, project, token_for(f"manage_test:{project}", client_id="a-colleague"))


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_write_without_a_name_never_changes_what_another_client_has_made(
    api: Api, colleague: Api, method: str
) -> None:
    mine, theirs = api.create(EXAMPLE), colleague.create(EXAMPLE)
    written = api.request(method, json={"version": 1, "objectTypeProperty": OTHER})
    assert (written.status_code, written.get_json()["id"]) == (200, mine["id"])
    assert api.get(f"/{theirs['id']}").get_json() == theirs


def test_a_client_without_a_resource_of_its_own_creates_or_is_told(api: Api, colleague: Api) -> None:
    theirs = colleague.create(EXAMPLE)
    refused = api.patch({"version": 1, "objectTypeProperty": OTHER})
    assert (refused.status_code, codes(refused)) == (404, ["ResourceNotFound"])
    assert "that this API client has created" in refused.get_json()["message"]
    created = api.put({"version": 1, "objectTypeProperty": OTHER})
    assert created.status_code == 201
    assert created.get_json()["createdBy"]["id"] != theirs["createdBy"]["id"]
    assert api.get(f"/{theirs['id']}").get_json() == theirs


def race(
    api: Api, colleague: Api, of_mine: Callable[[], TestResponse]
) -> tuple[list[TestResponse], list[TestResponse]]:
    """Send PUTs without a name of both clients at once, and a write of one of them in between."""

    def send(number: int) -> TestResponse:
        if number == 4:
            return of_mine()
        return (api, colleague)[number % 2].put({"objectTypeProperty": {"arrayOfIntExample": [number]}})

    answers = send_concurrently(9, send)
    return [answers[number] for number in (0, 2, 6, 8)], answers[1::2]


def authors(answers: list[TestResponse]) -> set[str]:
    assert {answer.status_code for answer in answers} <= {200, 201}
    return {answer.get_json()["createdBy"]["id"] for answer in answers}


@pytest.mark.parametrize("what", ["create", "give a key", "delete"])
def test_races_of_two_clients_keep_to_their_own_resources(api: Api, colleague: Api, what: str) -> None:
    for number in range(ROUNDS):
        made = api.create({})

        def write(made: dict[str, Any] = made, number: int = number) -> TestResponse:
            match what:
                case "create":
                    return api.post(json={"objectTypeProperty": {}})
                case "give a key":
                    return api.put({"id": made["id"], "key": f"key-{number}", "objectTypeProperty": OTHER})
                case _:
                    return api.delete(f"/{made['id']}")

        mine, theirs = race(api, colleague, write)
        every = api.get("/sorted-query-parameters?limit=500").get_json()["results"]
        by_me = {each["id"] for each in every if each["createdBy"] == made["createdBy"]}
        assert (authors(mine), authors(theirs)) == ({made["createdBy"]["id"]}, {"a-colleague"})
        of_them = [each for each in every if each["id"] not in by_me]
        assert len(of_them) == 1  # a PUT without a name creates no second one
        assert {answer.get_json()["id"] for answer in theirs} == {of_them[0]["id"]}


def test_a_get_body_that_is_sent_back_changes_nothing(api: Api) -> None:
    numbers = "[9007199254740993.5,1e18,-0.0,0.1,1e-400,-1e-400]"
    body = f'{{"objectTypeProperty":{{"arrayOfNumberNoDefaultsExample":{numbers}}},"key":"a-key"}}'
    made = api.request("POST", data=body, content_type="application/json")
    text = api.get("/key=a-key").get_data(as_text=True)
    assert '"arrayOfNumberNoDefaultsExample":[9007199254740994,1000000000000000000,-0.0,0.1,0,0]' in text
    for method in ("PUT", "POST", "PATCH"):
        answer = api.request(method, data=text, content_type="application/json")
        assert answer.get_json()["version"] == made.get_json()["version"]
        assert answer.get_data(as_text=True) == text
