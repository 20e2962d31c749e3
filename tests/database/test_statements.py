"""How many SQL statements a request sends."""

import pytest
from flask import Flask
from psycopg.pq import TransactionStatus

from app.database.connection import HAS_CITUS
from app.database.pool import Database
from app.database.pooled_connection import PREPARED_LENGTH_AT_MOST
from tests.support.api import EXAMPLE, Api
from tests.support.statements import recorded


def test_a_read_is_one_statement_outside_of_transaction_blocks(api: Api) -> None:
    created = api.create(key="a-key")
    for method, path in (
        ("GET", f"/{created['id']}"),
        ("GET", "/key=a-key"),
        ("GET", ""),
        ("GET", "?stringParameter=dog&integerParameter=1&arrayOfString=cat&arrayOfString=bird"),
        ("GET", "/sorted-query-parameters?sort=createdAt desc&limit=5"),
        ("HEAD", ""),
    ):
        with recorded() as seen:
            assert api.request(method, path).status_code == 200
        assert [statement.state for statement in seen] == [TransactionStatus.IDLE], (method, path)


@pytest.mark.one_machine("With Citus a write adds the words of its resource by one more statement.")
def test_a_write_reads_the_resource_and_writes_it_if_it_changes_something(api: Api) -> None:
    created = api.create(key="a-key")
    address, body = f"/{created['id']}", {"objectTypeProperty": {"arrayOfIntExample": [1]}}
    update = {"version": 1, "actions": [{"action": "doSomeThing"}, {"action": "publish"}]}
    for status, count, send in (
        (201, 1, lambda: api.post(json={"objectTypeProperty": EXAMPLE})),
        (200, 2, lambda: api.post(address, json=update)),
        (409, 1, lambda: api.post(address, json=update)),
        (200, 2, lambda: api.patch(json={"key": "a-key", "version": 2, **body})),
        (409, 1, lambda: api.patch(json={"key": "a-key", "version": 2, **body})),
        (200, 1, lambda: api.put(json={"id": created["id"], **body})),  # nothing changes
        (200, 1, lambda: api.post(json={"key": "a-key", **body})),  # likewise
        (412, 1, lambda: api.delete(address, headers={"If-Match": '"77"'})),
        (200, 2, lambda: api.delete(address)),
        (404, 1, lambda: api.delete(address)),
    ):
        with recorded() as seen:
            assert send().status_code == status
        assert len([each for each in seen if each.text != HAS_CITUS]) == count


@pytest.mark.one_machine("With Citus a write adds the words of its resource by one more statement.")
def test_a_write_that_turns_out_to_create_is_two_statements(api: Api) -> None:
    for send in (
        lambda: api.put(json={"objectTypeProperty": EXAMPLE}),
        lambda: api.put(json={"key": "a-key", "objectTypeProperty": EXAMPLE}),
        lambda: api.post(json={"key": "b-key", "objectTypeProperty": EXAMPLE}),
    ):
        api.get("/not-a-uuid")  # the first use of a token looks up whether it is revoked
        with recorded() as seen:
            assert send().status_code == 201
        assert len([each for each in seen if each.text != HAS_CITUS]) == 2


def test_an_invalid_request_sends_no_statement(api: Api) -> None:
    api.get("/not-a-uuid")  # the first use of a token looks up whether it is revoked
    with recorded() as seen:
        assert api.post(json={"objectTypeProperty": {"arrayOfIntExample": ["x"]}}).status_code == 400
        assert (api.get("/not-a-uuid").status_code, api.get("?limit=501").status_code) == (404, 400)
        assert Api(api.app, "another", api.token).get().status_code == 403
        assert Api(api.app, api.project, None).get().status_code == 401
    assert seen == []


def test_a_long_statement_is_not_prepared(app: Flask, project: str) -> None:
    database: Database = app.extensions["database"]
    with database.connection(project) as connection:
        for length, prepared in ((PREPARED_LENGTH_AT_MOST, 1), (PREPARED_LENGTH_AT_MOST + 1, 0)):
            statement = f"SELECT {length}".ljust(length)
            for _ in range(10):
                connection.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue] -- made up here
            found = connection.execute(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s", (f"SELECT {length} %",)
            ).fetchone()
            assert found == (prepared,)
