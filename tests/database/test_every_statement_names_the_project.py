"""The tenant stands in every statement: all SQL that the endpoints of a project send is recorded and looked at.

And what Citus refuses in a statement that writes stands in none.
"""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask, request

from app.database import migrate
from app.identity import clients, issued_tokens, signing_keys
from app.serving.embedded import EmbeddedPostgres
from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, Api
from tests.support.endpoints import endpoints_of_a_project

IDENTITY_TABLES = {"api_client", "signing_key", "revoked_token"}
"""They belong to the service and not to a project."""

PROJECT_TABLES = {"resource", "word"}

TABLE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(resource|word|api_client|signing_key|revoked_token)\b")
CONDITION = re.compile(r"\b(?:\w+\.)?project_key = %\(project_key\)s")
INSERTED = re.compile(
    r"INSERT INTO (?:resource AS r|word) \(\s*project_key,.*?\)\s*(?:SELECT |VALUES \()%\(project_key\)s,", re.DOTALL
)

RETURNED = re.compile(r"\bRETURNING\b(.*?)(?=\)\s*(?:,|SELECT\b)|$)", re.DOTALL)
COLUMNS = re.compile(r"\s*(?:\w+\.)?\w+(?:,\s*(?:\w+\.)?\w+)*\s*")
MUTABLE_WITHIN_A_CHOICE = re.compile(r"\b(?:coalesce|CASE)\b[^,]*\bnow\(\)", re.IGNORECASE)

Statement = tuple[str, Any]


@pytest.fixture
def statements(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Statement]]:
    """Every statement that goes through psycopg from now on, with its parameters."""
    recorded: list[Statement] = []
    original = psycopg.Cursor.execute

    def execute(cursor: Any, query: Any, params: Any = None, **options: Any) -> Any:
        text = query.as_string(cursor) if isinstance(query, psycopg.sql.Composable) else query
        recorded.append((text if isinstance(text, str) else bytes(text).decode(), params))
        return original(cursor, query, params, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)
    yield recorded
    monkeypatch.undo()


def test_every_statement_names_the_project(
    app: Flask, api: Api, token_for: TokenFor, statements: list[Statement]
) -> None:
    reached = walk(api, token_for(f"view_products:{api.project}"))
    assert reached == set(endpoints_of_a_project(app)), "a new endpoint has to be walked here"
    about_resources = 0
    for text, parameters in statements:
        tables = TABLE.findall(text)
        assert tables, f"a statement on no table that is known here: {text}"
        if set(tables) <= IDENTITY_TABLES:
            continue
        about_resources += 1
        named = len(CONDITION.findall(text)) + len(INSERTED.findall(text))
        assert named >= len([table for table in tables if table in PROJECT_TABLES]) > 0, text
        assert parameters["project_key"] == api.project
        assert api.project not in text  # a parameter, never a part of the text
    assert about_resources > 30


def test_what_is_written_returns_columns_and_nothing_made_of_them(
    api: Api, token_for: TokenFor, statements: list[Statement]
) -> None:
    """Citus takes only immutable functions in RETURNING, and most that make JSON or text are not."""
    walk(api, token_for(f"view_products:{api.project}"))
    returned = [columns for text, _ in statements for columns in RETURNED.findall(text)]
    assert len(returned) > 30
    for columns in returned:
        assert COLUMNS.fullmatch(columns), columns


def test_the_statements_on_identity_are_such_as_citus_takes(
    cluster: EmbeddedPostgres, project: str, statements: list[Statement]
) -> None:
    """Besides RETURNING: functions that are not immutable, now() among them, within a coalesce or CASE of an UPDATE."""
    url = cluster.create_database(project)
    migrate.upgrade(url)
    statements.clear()
    with psycopg.connect(url, autocommit=True) as connection:
        signing_keys.ensure_signing_key(connection)
        client = clients.create_client(connection, "a", ("view_test:p",))
        first = clients.revoke_client(connection, client.client_id)
        assert first.revoked_at is not None
        assert clients.revoke_client(connection, client.client_id) == first
        with pytest.raises(LookupError):
            clients.revoke_client(connection, "nobody")
        issued_tokens.issue_token(connection, "issuer", "a", ("view_test:p",), 9_999_999)
        signing_keys.rotate_signing_key(connection)
        signing_keys.rotate_signing_key(connection, others_at_once=True)
        issued_tokens.revoke_token(connection, "a-token", 1e9)
    updates = [text for text, _ in statements if "UPDATE" in text.split("FOR UPDATE")[0]]
    assert len(updates) >= 5
    for text in updates:
        assert MUTABLE_WITHIN_A_CHOICE.search(text) is None, text
        for columns in RETURNED.findall(text):
            assert COLUMNS.fullmatch(columns), text


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("DELETE FROM t RETURNING r.id, version", True),
        ("WITH w AS (DELETE FROM t RETURNING id), l AS (SELECT 1) SELECT f(id) FROM w", True),
        ("WITH w AS (DELETE FROM t RETURNING id::text) SELECT 1", False),
        ("INSERT INTO t VALUES (1) RETURNING to_json(id)", False),
        ("INSERT INTO t VALUES (1) RETURNING 'a' || id", False),
    ],
)
def test_what_is_returned_is_told_from_the_rest(text: str, allowed: bool) -> None:
    assert all(COLUMNS.fullmatch(columns) for columns in RETURNED.findall(text)) is allowed


def walk(api: Api, token: str) -> set[str]:
    """Call every endpoint in every form that has a statement of its own, and tell which were reached.

    :param token: one for what needs another scope.
    """
    reached: set[str] = set()
    app = api.app

    def note(*_: Any) -> None:
        if request.url_rule is not None:
            reached.add(f"{request.method} {request.url_rule.rule}")

    before = app.before_request_funcs.setdefault(None, [])
    before.append(note)
    try:
        _walk(api, token)
    finally:
        before.remove(note)
    return reached


def _walk(api: Api, token: str) -> None:
    part = {"arrayOfIntExample": [4]}
    # The only resource, made, met, and no longer the only one.
    assert api.patch(json={"version": 1, "objectTypeProperty": part}).status_code == 404
    assert api.put(json={"objectTypeProperty": EXAMPLE}).status_code == 201
    assert api.put(json={"objectTypeProperty": part}).status_code == 200
    assert api.patch(json={"version": 2, "objectTypeProperty": {}}).status_code == 200
    first = api.create(key="first")
    assert api.put(json={"objectTypeProperty": part}).status_code == 400
    for query in ("", "?staged=true"):
        for named in (
            {"id": first["id"]},
            {"key": "first"},
            {"key": f"new{len(query)}"},
            {"id": first["id"], "key": "k2"},
        ):
            api.post(query, json={"objectTypeProperty": part, **named})
            api.request("PUT", query, json={"objectTypeProperty": EXAMPLE, **named})
            version = api.get(f"/{first['id']}").get_json()["version"]
            api.request("PATCH", query, json={"objectTypeProperty": part, "version": version, **named})
    for action in (
        {"action": "doSomeThing"},
        {"action": "changeSomeProperty", "someProperty": "x"},
        {"action": "changeSomeProperty", "someProperty": "y", "staged": True},
        {"action": "publish"},
        {"action": "changeSomeProperty", "someProperty": "z", "staged": True},
        {"action": "revertStagedChanges"},
    ):
        api.update(api.get(f"/{first['id']}").get_json(), action)
    assert api.post(f"/{first['id']}", json={"version": 1, "actions": []}).status_code == 409
    assert api.get("/key=k2").status_code == 200
    for query in (
        "",
        "?stringParameter=a&floatParameter=1.5&integerParameter=1&withMarkdownDescription=2",
        '?objectParameter={"arrayOfIntExample":[1]}&arrayOfString=a&arrayOfString=b&arrayOfStringWithDescription=c',
        "?withTotal=false",
        "?sort=createdAt desc&sort=key&limit=1&offset=1",
        '?where=key = "a" or not(arrayOfIntExample > 1 and arrayOfObjectType(integerExample = 1))',
    ):
        assert api.get(query).status_code == 200
        assert api.head(query).status_code in (200, 404)
    for query in (
        "",
        "?sort=version desc",
        "?withTotal=false&limit=0",
        "?expand=createdBy&expand=lastModifiedBy",
        '?where=id in :ids or someProperty matches ignore case "x"&var.ids=a&expand=createdBy',
    ):
        assert api.get(f"/sorted-query-parameters{query}").status_code == 200
    searches = (
        {},
        {"text.en": "dogs", "text.fr": "chat", "fuzzy": "true", "facet": ["arrayOfStringExample", "version:1 as one"]},
        {"text.en": "dog", "sort": "someProperty desc", "staged": "true", "withTotal": "false"},
        {
            "filter": 'key:"a"',
            "filter.query": "version:exists",
            "filter.facets": "version:range(1 to *)",
            "facet": "id",
        },
        {"facet": ["createdAt", "version:range(1 to 2),(2 to *) as v"], "filter.facets": "version:1", "limit": "0"},
    )
    products = Api(api.app, api.project, token)
    for search in searches:
        assert api.get("/searchApiPattern", query_string=search).status_code == 200
        assert products.post("/product-projection-search", data=search).status_code == 200
    assert api.post("/description-with-urn-links", json={}).status_code == 200
    assert api.post("/artificially-complex/path/uri-parameter-one=1/2", json={}).status_code == 200
    assert api.delete(f"/{first['id']}?version=1").status_code == 409
    assert api.delete(f"/{first['id']}").status_code == 200
