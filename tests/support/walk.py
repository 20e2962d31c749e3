"""A walk through every operation of the service and its main variants, for the tests that look at all of its SQL.

Each step has a name, ``operation.variant``, and its statements are kept under that name. The walk is the same each
time: it has a database of its own, and an application with one connection.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from flask import Flask, request

from app.config import Settings
from app.database import migrate
from app.database.admission import Lane
from app.database.connection import Connection
from app.database.pool import Database
from app.identity import clients, tokens
from app.resource import bulk_store
from app.resource.model import ById, ByKey, OwnYoungest, ResourceRow, Target
from app.resource.searching.dictionary import add_words_of, add_words_of_all, remove_unused_words
from app.resource.writing.store import find
from tests.support import variants
from tests.support.api import EXAMPLE, Api
from tests.support.applications import open_app
from tests.support.cluster import Cluster
from tests.support.oauth import OAuthClient, issue
from tests.support.statements import APP, Statement, recorded

PROJECT = "walk"

SORTED = "/sorted-query-parameters"


@dataclass(slots=True)
class Walked:
    """The statements, the lanes and the endpoints of a walk."""

    steps: dict[str, list[Statement]] = field(default_factory=dict)
    lanes: dict[str, set[Lane]] = field(default_factory=dict)
    """The lanes of the connections that each step has used."""
    endpoints: set[str] = field(default_factory=set)
    """The endpoints that were called, by their names in :func:`tests.support.endpoints.endpoints`."""

    @property
    def statements(self) -> list[Statement]:
        return [statement for step in self.steps.values() for statement in step]

    @contextmanager
    def step(self, name: str, sent: list[Statement], by: Path) -> Iterator[None]:
        """Keep the statements that are sent until the end of the ``with``, under the name of a step.

        :param sent: the list to which statements are recorded.
        :param by: the package whose statements are kept.
        """
        assert name not in self.steps, name
        before = len(sent)
        yield
        self.steps[name] = [each for each in sent[before:] if each.sender and each.sender.path.is_relative_to(by)]


def walk(cluster: Cluster) -> Walked:
    """Make a database, run all steps of the walk on it, and drop it."""
    name = f"walk_{time.monotonic_ns()}"
    url = cluster.create_database(name)
    try:
        migrate.upgrade(url)
        settings = Settings(database_url=url, connections=1, statement_timeout_ms=60_000)
        with open_app(settings) as app, recorded() as statements, psycopg.connect(url, autocommit=True) as connection:
            return _Walk(app, connection, statements).walk()
    finally:
        cluster.drop_database(name)


class _Walk:
    def __init__(self, app: Flask, connection: Connection, statements: list[Statement]) -> None:
        self.app = app
        self.connection = connection
        self.statements = statements
        self.walked = Walked()
        self.lanes = set[Lane]()

    def walk(self) -> Walked:
        def note(*_: Any) -> None:
            if request.url_rule is not None:
                self.walked.endpoints.add(f"{request.method} {request.url_rule.rule}")

        database: Database = self.app.extensions["database"]
        connect = database.connection

        def connection(project: str = "", lane: Lane = Lane.FAST) -> Any:
            self.lanes.add(lane)
            return connect(project, lane)

        database.connection = connection

        self.app.before_request_funcs.setdefault(None, []).append(note)
        self.identity()
        scopes = [
            f"{scope}:{project}"
            for project in (PROJECT, "nameless", "large")
            for scope in ("manage_test", "view_products")
        ]
        token = issue(self.connection, *scopes, client_id="walker")
        api = Api(self.app, PROJECT, token)
        self.creates(api)
        self.reads(api)
        self.updates(api)
        self.upserts(api)
        self.without_a_name(Api(self.app, "nameless", token))
        self.overtaken()
        self.lists(api)
        self.searches(api)
        self.large_pages(Api(self.app, "large", token))
        self.deletes(api)
        self.without_database(api)
        self.bulk()
        self.operation()
        return self.walked

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Keep the statements that are sent until the end of the ``with``, under the name of a step."""
        self.lanes.clear()
        with self.walked.step(name, self.statements, APP):
            yield
        self.walked.lanes[name] = self.lanes.copy()

    # Identity

    def identity(self) -> None:
        connection = self.connection
        with self.step("client.create"):
            client = clients.create_client(connection, "a client", (f"view_test:{PROJECT}",))
        with self.step("client.has_clients"):
            assert clients.has_clients(connection)
        with self.step("client.find"):
            assert clients.find_client(connection, client.name, client.scopes) == client.client_id
        with self.step("client.list"):
            assert [found.client_id for found in clients.list_clients(connection)] == [client.client_id]
        with self.step("client.revoke"):
            revoked = clients.revoke_client(connection, client.client_id)
        assert revoked.revoked_at is not None
        assert clients.revoke_client(connection, client.client_id) == revoked
        with self.step("client.revoke_unknown"), pytest.raises(LookupError):
            clients.revoke_client(connection, "nobody")
        with self.step("client.remove"):
            clients.remove_client(connection, client.client_id)
        with self.step("client.ensure"):
            clients.ensure_client(connection, clients.COMMAND_LINE)
        with self.step("token.issue"):
            token = tokens.issue_token(connection, clients.COMMAND_LINE, (f"view_test:{PROJECT}",))
        with self.step("token.find"), recorded(lookups=True) as lookups:
            assert list(tokens.find_tokens(connection, [tokens.digest_of(token)])) == [tokens.digest_of(token)]
            self.statements += lookups
        with self.step("token.revoke"):
            tokens.revoke_token(connection, tokens.digest_of(token))
        with self.step("token.revoke_all"):
            tokens.revoke_all_tokens(connection, clients.COMMAND_LINE)
        connection.execute("UPDATE access_token SET kept_until = now() - interval '1 minute'")
        with self.step("token.remove_outdated"):
            tokens.remove_outdated(connection)
        oauth = OAuthClient(self.app, connection, f"view_test:{PROJECT}")
        with self.step("oauth.token"):
            token = oauth.token()
        with self.step("oauth.introspect"):
            assert oauth.introspect(token)["active"] is True
        with self.step("oauth.revoke"):
            assert oauth.post("/oauth/revoke", {"token": token}).status_code == 200

    # One resource

    def creates(self, api: Api) -> None:
        texts = {"arrayOfStringExample": ["one two"]}
        with self.step("create.new"):
            api.create(texts)
        with self.step("create.staged"):
            answer = api.post("?staged=true", json={"objectTypeProperty": texts})
            assert answer.status_code == 201
        with self.step("create_or_update.new_key"):
            api.create(texts, key="first")
            api.create(EXAMPLE, key="second")

    def reads(self, api: Api) -> None:
        with self.step("get_by_key"):
            first = api.get("/key=first").get_json()
        with self.step("get_by_id"):
            assert api.get(f"/{first['id']}").get_json() == first
        with self.step("get_by_id.not_modified"):
            assert api.get(f"/{first['id']}", headers={"If-None-Match": '"1"'}).status_code == 304
        with self.step("get_by_id.no_uuid"):
            assert api.get("/no-uuid").status_code == 404

    def updates(self, api: Api) -> None:
        resource = api.get("/key=first").get_json()

        def change(value: str, *, staged: bool = False) -> dict[str, Any]:
            return {"action": "changeSomeProperty", "someProperty": value, "staged": staged}

        path = f"/{resource['id']}"
        doing = {"version": 1, "actions": [{"action": "doSomeThing"}]}
        with self.step("update_by_actions.do_some_thing"):
            resource = api.post(path, json=doing).get_json()
        with self.step("update_by_actions.conflict"):
            assert api.post(path, json=doing).status_code == 409
        for name, actions in (
            ("change_some_property", [change("one")]),
            ("change_staged_some_property", [change("two", staged=True)]),
            ("publish", [{"action": "publish"}]),
            ("change_and_publish", [change("two one", staged=True), {"action": "publish"}]),
            ("change_staged_some_property_again", [change("four", staged=True)]),
            ("revert_staged_changes", [{"action": "revertStagedChanges"}]),
            ("no_action", []),
        ):
            with self.step(f"update_by_actions.{name}"):
                resource = api.update(resource, *actions)
        version = resource["version"]
        doing["version"] = version
        with self.step("update_by_actions.if_match"):
            assert api.post(path, json=doing, headers={"If-Match": f'"{version}"'}).status_code == 200
        with self.step("update_by_actions.precondition_failed"):
            assert api.post(path, json=doing, headers={"If-Match": '"1"'}).status_code == 412
        with self.step("update_by_actions.if_none_match"):
            current = doing | {"version": version + 1}
            assert api.post(path, json=current, headers={"If-None-Match": '"1"'}).status_code == 200
        with self.step("update_by_actions.not_found"):
            assert api.post(f"/{UUID(int=0)}", json=doing).status_code == 404

    def upserts(self, api: Api) -> None:
        """Create and update by id, by key, and by id with a new key.

        Each is done with and without ``staged`` and a version.
        """
        part: dict[str, Any] = {"arrayOfIntExample": [4]}

        def send(
            step: str, method: str, query: str, status: int, headers: dict[str, str] | None = None, **body: Any
        ) -> None:
            body.setdefault("objectTypeProperty", part)
            with self.step(step):
                answer = api.request(method, query, json=body, headers=headers or {})
                assert answer.status_code == status, answer.text

        def version() -> int:
            return api.get("/key=second").get_json()["version"]

        resource_id = api.get("/key=second").get_json()["id"]
        for operation, method in (("create_or_update", "POST"), ("create_or_overwrite", "PUT"), ("overwrite", "PATCH")):
            if method != "PATCH":
                send(f"{operation}.by_id", method, "", 200, id=resource_id)
                send(f"{operation}.by_key", method, "", 200, key="second")
                send(f"{operation}.by_key_staged", method, "?staged=true", 200, key="second")
                send(f"{operation}.by_id_with_key", method, "", 200, id=resource_id, key="second")
                send(f"{operation}.only_create", method, "", 412, {"If-None-Match": "*"}, key="second")
                send(f"{operation}.new_staged", method, "?staged=true", 201, key=f"staged-{method}")
            for variant, query, body in (
                ("by_id", "", {"id": resource_id}),
                ("by_key", "", {"key": "second", "objectTypeProperty": {}}),
                ("by_key_staged", "?staged=true", {"key": "second", "objectTypeProperty": {}}),
                ("by_id_with_key", "", {"id": resource_id, "key": "second"}),
            ):
                send(f"{operation}.expecting_version.{variant}", method, query, 200, **body, version=version())
            if_match = {"If-Match": f'"{version()}"'}
            send(f"{operation}.if_match.by_key", method, "", 200, if_match, key="second", objectTypeProperty=EXAMPLE)
            send(f"{operation}.conflict", method, "", 409, key="second", version=1)
        send("overwrite.not_found", "PATCH", "", 404, key="nobody", version=1)

    def without_a_name(self, api: Api) -> None:
        part = {"arrayOfIntExample": [4]}
        with self.step("overwrite.without_a_name_not_found"):
            assert api.patch(json={"version": 1, "objectTypeProperty": part}).status_code == 404
        with self.step("create_or_overwrite.without_a_name_new"):
            assert api.put(json={"objectTypeProperty": EXAMPLE}).status_code == 201
        with self.step("create_or_overwrite.without_a_name"):
            assert api.put(json={"objectTypeProperty": part}).status_code == 200
        with self.step("overwrite.without_a_name"):
            assert api.patch(json={"version": 2, "objectTypeProperty": {}}).status_code == 200

    def overtaken(self) -> None:
        """Read a resource as the second attempt of an overtaken write does, by each way to name the resource."""
        targets: tuple[Target, ...] = (ById(str(UUID(int=0))), ByKey("first"), OwnYoungest("nobody"))
        for target in targets:
            with self.step(f"overtaken.{type(target).__name__}"), self.connection.transaction():
                find(self.connection, PROJECT, target, locks=True)

    def deletes(self, api: Api) -> None:
        resource = api.create(key="to-delete")
        another = api.create()
        with self.step("delete"):
            assert api.delete(f"/{another['id']}").status_code == 200
        with self.step("delete.conflict"):
            assert api.delete(f"/{resource['id']}?version=7").status_code == 409
        with self.step("delete.expecting_a_version"):
            assert api.delete(f"/{resource['id']}?version=1").status_code == 200
        with self.step("delete.not_found"):
            assert api.delete(f"/{resource['id']}").status_code == 404

    # Many resources

    def lists(self, api: Api) -> None:
        for name, query in variants.CONDITIONS.items():
            with self.step(f"list.{name}"):
                assert api.get(query).status_code == 200
        for name, query in variants.CONDITIONS.items():
            with self.step(f"exists.{name}"):
                assert api.head(query).status_code in (200, 404)
        for name, query in variants.PAGES.items():
            with self.step(f"list.{name}"):
                assert api.get(query).status_code == 200
        for name, query in variants.SORTED_PAGES.items():
            with self.step(f"list_sorted.{name}"):
                assert api.get(SORTED + query).status_code == 200
        # The existence check has the shortest statement with predicates.
        for name, where in variants.PREDICATES.items():
            with self.step(f"exists.where_{name}"):
                assert api.head(query_string={"where": where}).status_code in (200, 404)
        with self.step("exists.where_with_variables"):
            assert api.head(query_string={"where": "key in :keys", "var.keys": ["a", "b"]}).status_code in (200, 404)
        with self.step("exists.several_where"):
            assert api.head(query_string={"where": ['key = "a"', "version = 1"]}).status_code in (200, 404)

    def searches(self, api: Api) -> None:
        for name, search in variants.SEARCHES.items():
            with self.step(f"search.{name}"):
                assert api.get("/searchApiPattern", query_string=search).status_code == 200
        for name, search in variants.STAGED_SEARCHES.items():
            with self.step(f"search_staged.{name}"):
                assert api.post("/product-projection-search", data={**search, "staged": "true"}).status_code == 200

    def large_pages(self, api: Api) -> None:
        """Read pages with a document that is larger than its share of a small page."""
        resource = api.create({"arrayOfStringExample": ["x" * 10_000]})
        api.update(resource, {"action": "changeSomeProperty", "someProperty": "x" * 5_000})
        for step, path in (("list", ""), ("list_sorted", SORTED), ("search", "/searchApiPattern")):
            with self.step(f"{step}.large"):
                assert api.get(f"{path}?limit=500").status_code == 200

    def without_database(self, api: Api) -> None:
        with self.step("description_with_urn_links"):
            assert api.post("/description-with-urn-links", json={}).status_code == 200
        with self.step("artificially_complex"):
            assert api.post("/artificially-complex/path/uri-parameter-one=1/2", json={}).status_code == 200

    # In bulk

    def bulk(self) -> None:
        at = "2030-01-01T00:00:00.000Z"
        copied = ResourceRow(UUID(int=1), 1, "copied", at, at, "c", "c", "{}", "text", None, None)
        other = replace(copied, id=UUID(int=2), key="other")
        with self.step("bulk.copy_in"):
            bulk_store.copy_in(self.connection, "bulk", [copied, other])
        with self.step("bulk.existing_ids"):
            assert bulk_store.existing_ids(self.connection, "bulk", [other.id]) == {other.id}
        with self.step("dictionary.add_words_of"):
            add_words_of(self.connection, "bulk", [copied.id])
        with self.step("dictionary.add_words_of_all"):
            add_words_of_all(self.connection, "bulk")
        with self.step("dictionary.remove_unused_words"):
            assert remove_unused_words(self.connection, "bulk") == 0
        with self.step("bulk.count_and_bytes"):
            assert bulk_store.count_and_bytes(self.connection, "bulk")[0] == 2
        with self.step("bulk.tidy"):
            bulk_store.tidy(self.connection)
        with self.step("bulk.delete_in_parts"):
            assert bulk_store.delete_in_parts(self.connection, "bulk") == 2
        with self.step("bulk.delete_all"):
            bulk_store.delete_all(self.connection, "bulk")

    # Operation

    def operation(self) -> None:
        with self.step("readiness"):
            assert self.app.test_client().get("/health/ready").status_code == 200
