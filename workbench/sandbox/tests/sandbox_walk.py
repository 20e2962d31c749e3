"""A walk through the sandbox, for the tests that look at its SQL; the one of the service is ``tests.support.walk``."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import psycopg
import sample_resource_sandbox
from flask import Flask
from sample_resource_sandbox.package import SandboxPackage
from sample_resource_sandbox.projects import store as projects_store
from sample_resource_sandbox.projects.sole import SoleInstance

from app import create_app
from app.config import Settings
from app.database import migrate
from app.database.connection import Connection
from app.resource import bulk_store
from tests.sql.files import Folder
from tests.support.api import Api
from tests.support.cluster import Cluster
from tests.support.statements import recorded
from tests.support.walk import Walked

SANDBOX = Path(sample_resource_sandbox.__file__).parent

FILES = Folder(
    Path(__file__).with_name("sql"),
    "the sandbox",
    "../sandbox_walk.py",
    "../../../../tests/sql/layout.py",
    "What the sandbox has the service send is in [the folder of the service](../../../../tests/sql/README.md).",
)

PROJECT = "sandboxed"
COPY = "sandboxed-copy"
RUN = "walk"

Step = Callable[[str], AbstractContextManager[None]]


def walk_sandbox(cluster: Cluster) -> Walked:
    """Make a database, take every step of the sandbox on it, and drop it."""
    name = f"walk_sandbox_{time.monotonic_ns()}"
    url = cluster.create_database(name)
    walked = Walked()
    try:
        migrate.upgrade(url, SandboxPackage.migrations)
        with recorded() as statements, psycopg.connect(url, autocommit=True) as connection:
            switch = {"SANDBOX": "on"}
            app = create_app(Settings(database_url=url, connections=1, statement_timeout_ms=60_000, environment=switch))
            with closing(app.extensions["database"]):
                _Walk(app, connection, lambda step: walked.step(step, statements, SANDBOX)).walk()
                app.extensions["extension"].stop()
    finally:
        cluster.drop_database(name)
    return walked


class _Walk:
    def __init__(self, app: Flask, connection: Connection, step: Step) -> None:
        self.client = app.test_client()
        self.app = app
        self.settings: Settings = app.extensions["settings"]
        self.sandbox = app.extensions["extension"]
        self.connection = connection
        self.step = step

    def send(
        self, name: str, method: str, path: str, status: int = 204, body: Any = None, below: str = "projects"
    ) -> Any:
        with self.step(name):
            answer = self.client.open(f"/sandbox/{below}{path}", method=method, json=body)
            assert answer.status_code == status, answer.text
        return answer.get_json(silent=True)

    def walk(self) -> None:
        order = {"projectKey": PROJECT, "resources": 1, "ids": {"seed": 1}, "run": RUN}
        made = self.send("make", "POST", "", 201, order)
        self.send("make_copy", "POST", "", 201, {"projectKey": COPY, "copyOf": PROJECT})
        here = f"/{PROJECT}"
        self.send("list", "GET", "", 200)
        self.send("issue_token", "POST", f"{here}/tokens", 201)
        self.send("set_clock", "PUT", f"{here}/clock", 204, {"now": "2030-01-01T00:00:00Z", "runs": False})
        self.send("set_ids", "PUT", f"{here}/ids", 204, {"seed": 2})
        rules = [
            {"match": {"method": "HEAD"}, "times": {"after": 1, "first": 1}, "status": 503},
            {"match": {"method": "HEAD"}, "limit": {"requests": 1, "perSeconds": 60}},
            {"match": {"method": "OPTIONS"}, "expireTokens": True},
            {"match": {"method": "PATCH"}, "conflict": True},
        ]
        self.send("set_rules", "PUT", f"{here}/rules", 204, {"rules": rules})
        form = {"grant_type": "client_credentials"}
        granted = self.client.post("/oauth/token", data=form, auth=(made["clientId"], made["clientSecret"]))
        token = granted.get_json()["access_token"]
        self.requests(Api(self.app, PROJECT, token))
        self.send("resources", "GET", f"{here}/resources", 200)
        bulk_store.delete_in_parts(self.connection, PROJECT)
        self.send("reset", "POST", f"{here}/reset")
        self.send("remove_run", "DELETE", f"/{RUN}", below="runs")
        with self.step("expire_tokens"):
            self.sandbox.projects.expire_tokens(self.sandbox.projects.get(PROJECT))
        with self.step("one_instance"):
            instance = SoleInstance(self.settings.database_url or "", self.settings)
            assert instance.take()
            instance.keep()
            instance.release()
        with self.step("load"):
            list(projects_store.all_rows(self.connection))
            projects_store.all_runs(self.connection)
        copy = self.sandbox.projects.get(COPY)
        copy.expires_at = copy.created_at
        with self.step("remove_expired"):
            self.sandbox.projects.remove_expired()
        self.send("remove", "DELETE", f"/{PROJECT}")

    def requests(self, api: Api) -> None:
        with self.step("create_with_seed"):
            made = api.create(key="seeded")
        change = {"version": 1, "actions": [{"action": "doSomeThing"}]}
        with self.step("update_by_actions"):
            assert api.post(f"/{made['id']}", json=change).status_code == 200
        with self.step("overwrite"):
            assert api.put(json={"key": "seeded", "objectTypeProperty": {}}).status_code == 200
        with self.step("rules_of_a_request"):
            # Buffered, so that the answer is sent to its end and stands in the journal.
            assert [api.head(buffered=True).status_code for _ in range(3)] == [200, 503, 429]

        overwritten = {"key": "seeded", "version": 2, "objectTypeProperty": {}}
        with self.step("another_writer"):
            assert api.patch(json=overwritten).status_code == 409
