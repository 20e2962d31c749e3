"""Isolation of projects: every endpoint with a token of project A against the data of project B.

A's token has to be refused on B's URLs. Requests to A's own URLs with ids and keys of B have to behave as if these did
not exist: in answers, counts, locks and effects.
"""

from typing import Any

import psycopg
import pytest
from flask import Flask

from tests.support.api import EXAMPLE, Api
from tests.support.fixtures import TokenFor

KEY = "the-key"


@pytest.fixture
def a(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client with all scopes of an empty project."""
    names = ("manage_test", "view_test", "view_products", "view_published_products")
    return Api(app, project, token_for(*(f"{name}:{project}" for name in names)))


@pytest.fixture
def b(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client of another project, with data."""
    other = f"{project}-b"
    filled = Api(app, other, token_for(f"manage_test:{other}"))
    filled.create(key=KEY)
    filled.create(key="another")
    return filled


def everything(api: Api) -> dict[str, Any]:
    return api.get("/sorted-query-parameters").get_json()


WRITE = {"objectTypeProperty": {"arrayOfIntExample": [99]}}


def test_a_key_or_a_sole_place_that_b_takes_is_free_for_a(a: Api, b: Api) -> None:
    of_b = everything(b)
    created = a.put(json=WRITE | {"key": KEY})
    assert (created.status_code, created.get_json()["version"]) == (201, 1)
    assert a.delete(f"/{created.get_json()['id']}").status_code == 200
    sole = a.put(json=WRITE)  # B has two, which would make this ambiguous
    assert sole.status_code == 201
    assert a.post(json=WRITE | {"id": sole.get_json()["id"], "key": KEY}).status_code == 200
    assert everything(b) == of_b


def test_the_same_id_in_both_projects_is_two_resources(a: Api, b: Api, database_url: str) -> None:
    """The server generates ids, so this does not happen, but no statement may rely on that."""
    of_b = b.get(f"/key={KEY}").get_json()
    mine = a.create()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE resource SET id = %(id)s WHERE project_key = %(project_key)s",
            {"id": of_b["id"], "project_key": a.project},
        )
    action = {"version": 1, "actions": [{"action": "changeSomeProperty", "someProperty": "A's"}]}
    updated = a.post(f"/{of_b['id']}", json=action)
    assert (updated.status_code, updated.get_json()["createdAt"]) == (200, mine["createdAt"])
    assert (b.get(f"/{of_b['id']}").get_json(), of_b["objectTypeProperty"]) == (of_b, EXAMPLE)
    assert (a.delete(f"/{of_b['id']}").status_code, b.get(f"/{of_b['id']}").get_json()) == (200, of_b)


def test_a_locked_row_of_b_does_not_delay_a(a: Api, b: Api, database_url: str) -> None:
    mine = a.create(key=KEY)
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT FROM resource WHERE project_key = %s FOR UPDATE", (b.project,))
        assert a.update(mine, {"action": "doSomeThing"})["version"] == 2
        assert a.put(json=WRITE | {"key": KEY}).status_code == 200
        assert a.delete(f"/{mine['id']}").status_code == 200
        holder.rollback()
