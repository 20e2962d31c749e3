"""The parameter ``expand`` of the sorted list: references to API clients get the client as ``obj``."""

from typing import Any

import psycopg
import pytest
from flask import Flask

from app.database.connection import Connection
from app.identity import clients
from tests.support.api import Api
from tests.support.fixtures import TokenFor
from tests.support.predicates import SORTED
from tests.support.statements import recorded


@pytest.fixture
def client(database_url: str, project: str) -> clients.NewClient:
    """A stored API client whose name needs escaping in JSON."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        return clients.create_client(connection, 'Shop "Ö" \\ 1', (f"manage_test:{project}", f"view_test:{project}"))


@pytest.fixture
def known(app: Flask, api: Api, client: clients.NewClient, token_for: TokenFor) -> Api:
    """Sends requests with a token of that API client."""
    return Api(app, api.project, token_for(f"manage_test:{api.project}", client_id=client.client_id))


def listed(api: Api, *expand: str) -> dict[str, Any]:
    """The project's only resource, from the sorted list with ``expand``."""
    answer = api.get(SORTED, query_string={"expand": list(expand)})
    assert answer.status_code == 200, answer.text
    (resource,) = answer.get_json()["results"]
    return resource


def test_expand_adds_the_api_client_to_its_reference(known: Api, client: clients.NewClient) -> None:
    created = known.create(key="a-key")
    plain = {"typeId": "api-client", "id": client.client_id}
    scopes = [f"manage_test:{known.project}", f"view_test:{known.project}"]
    full = plain | {"obj": {"id": client.client_id, "name": 'Shop "Ö" \\ 1', "scopes": scopes}}
    assert listed(known) == created
    assert listed(known, "createdBy") == created | {"createdBy": full}
    assert listed(known, "lastModifiedBy") == created | {"lastModifiedBy": full}
    both = created | {"createdBy": full, "lastModifiedBy": full}
    assert listed(known, "createdBy", "lastModifiedBy") == both
    assert listed(known, "lastModifiedBy", "createdBy", "createdBy") == both


def test_expand_leaves_the_reference_to_a_removed_api_client_as_it_is(
    app: Flask, api: Api, known: Api, client: clients.NewClient, token_for: TokenFor, connection: Connection
) -> None:
    removed = clients.create_client(connection, "Removed", ())
    token = token_for(f"manage_test:{api.project}", client_id=removed.client_id)
    created = Api(app, api.project, token).create()
    clients.remove_client(connection, removed.client_id)
    assert listed(api, "createdBy", "lastModifiedBy") == created
    updated = known.update(created, {"action": "changeSomeProperty", "someProperty": "x"})
    expanded = listed(api, "createdBy", "lastModifiedBy")
    assert expanded["createdBy"] == updated["createdBy"]
    assert expanded["lastModifiedBy"]["obj"]["id"] == client.client_id


def test_expand_omits_scopes_for_other_projects(app: Flask, api: Api, database_url: str, token_for: TokenFor) -> None:
    scopes = ("view_test:another", f"view_test:{api.project}", f"manage_test:{api.project}-2")
    with psycopg.connect(database_url, autocommit=True) as connection:
        made = clients.create_client(connection, "Shared", scopes)
    Api(app, api.project, token_for(f"manage_test:{api.project}", client_id=made.client_id)).create()
    assert listed(api, "createdBy")["createdBy"]["obj"]["scopes"] == [f"view_test:{api.project}"]


def test_a_page_with_where_variables_and_expand_is_one_statement(known: Api) -> None:
    known.create(key="a-key")
    query = {
        "where": ['key = "a-key" and arrayOfObjectType(integerExample > 1)', "version = :v"],
        "var.v": "1",
        "expand": ["createdBy", "lastModifiedBy"],
    }
    with recorded() as seen:
        assert known.get(SORTED, query_string=query).get_json()["count"] == 1
    assert len(seen) == 1
