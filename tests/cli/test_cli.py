"""The command line."""

import json
import re

import psycopg
import pytest
from click.testing import CliRunner, Result
from flask import Flask
from psycopg import sql

from app.cli import main
from app.config import Settings
from app.database import migrate
from app.identity import clients
from app.identity.tokens import TOKEN, digest_of
from app.serving.preparation import DEMO_PROJECT, prepare
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.cluster import Cluster


def run(*arguments: str, url: str | None = None, **environment: str) -> Result:
    variables = {"DATABASE_URL": url or "", **environment}
    return CliRunner().invoke(main, list(arguments), env=variables)


@pytest.fixture
def empty_database(cluster: Cluster, project: str) -> str:
    """A database without any table."""
    return cluster.create_database(project)


def test_a_token_is_printed_alone_and_works(app: Flask, database_url: str) -> None:
    result = run("token", "--scope", "manage_test:p view_test:p", url=database_url)
    assert result.exit_code == 0
    token = result.stdout.rstrip("\n")
    assert TOKEN.fullmatch(token)
    assert Api(app, "p", token).get().status_code == 200
    assert Api(app, "q", token).get().status_code == 403


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("token",), "Missing option '--scope'"),
        (("token", "--scope", ""), "An empty value is no scope"),
        (("token", "--scope", "manage_test"), "'manage_test' is no scope"),
        (("token", "--scope", "manage_project:p"), "is no scope"),
        (("token", "--scope", "view_test:p", "--lifetime", "0"), "--lifetime"),
        (("client", "create", "--scope", "view_test:p"), "Missing option '--name'"),
        (("db", "downgrade"), "No such command 'downgrade'"),
    ],
)
def test_wrong_usage_is_exit_code_2_with_a_reason(arguments: tuple[str, ...], reason: str, database_url: str) -> None:
    result = run(*arguments, url=database_url)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_an_invalid_setting_stops_every_command() -> None:
    result = run("db", "status", PORT="eighty")
    assert result.exit_code == 1
    assert result.stderr == "error: PORT='eighty': a whole number from 1 to 65535 is expected\n"
    assert run("db", "status", "--help", PORT="eighty").exit_code == 0
    assert json.loads(run("openapi", url="nonsense").stdout)["openapi"] == "3.1.0"  # it needs no database


def test_an_unreachable_database_is_reported_in_one_line() -> None:
    result = run("db", "status", url="host=/nowhere dbname=x")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.stderr
    refused = run("db", "status", url="postgresql://u:p%zzsecret@h/d")
    assert refused.stderr.startswith("Error: DATABASE_URL: is no connection string of libpq"), "without the password"


def test_migrations_are_listed_and_applied_once(empty_database: str) -> None:
    before = run("db", "status", url=empty_database)
    assert (before.exit_code, before.stdout.splitlines()[0]) == (1, "missing  0001.schema")
    upgraded = run("db", "upgrade", url=empty_database)
    assert (upgraded.exit_code, upgraded.stdout.splitlines()[0]) == (0, "applied  0001.schema")
    assert run("db", "status", url=empty_database).exit_code == 0
    assert run("db", "upgrade", url=empty_database).stdout == "Nothing to apply.\n"


def test_a_command_on_a_database_without_tables_says_what_to_do(empty_database: str) -> None:
    result = run("client", "create", "--name", "x", "--scope", "view_test:p", url=empty_database)
    assert result.exit_code == 1
    assert "sample-resource db upgrade" in result.stderr


def test_a_client_is_created_and_its_secret_stored_as_a_hash(database_url: str) -> None:
    scopes = "manage_test:p view_test:p"
    result = run("client", "create", "--name", "A client", "--scope", scopes, url=database_url)
    assert result.exit_code == 0
    made = json.loads(result.stdout)
    assert (made["name"], made["scope"]) == ("A client", scopes)
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "SELECT secret_hash, scopes FROM api_client WHERE id = %s", (made["client_id"],)
        ).fetchone()
    assert row == (digest_of(made["client_secret"]), scopes.split())


def test_preparing_a_database_twice_creates_one_demo_client_whose_token_is_printed(empty_database: str) -> None:
    settings = Settings(database_url=empty_database, port=8123, bind="::")
    migrate.upgrade(empty_database)
    printed = [prepare(empty_database, settings) for _ in range(2)]
    assert ["Its secret" in text for text in printed] == [True, False]
    for text in printed:
        assert f"http://127.0.0.1:8123/{DEMO_PROJECT}/resource" in text
        assert "http://127.0.0.1:8123/docs" in text
    client_id = re.findall("Demo client +([^ \n]+)", printed[0])[0]
    tokens = [re.findall("Bearer ([^']+)'", text)[0] for text in printed]
    with open_app(settings) as app:
        for token in tokens:
            created = Api(app, DEMO_PROJECT, token).create()
            assert created["createdBy"] == {"typeId": "api-client", "id": client_id}
        answer = Api(app, DEMO_PROJECT, tokens[0]).get("/sorted-query-parameters?expand=createdBy")
        for result in answer.get_json()["results"]:
            assert (result["createdBy"]["obj"]["id"], result["createdBy"]["obj"]["name"]) == (client_id, "demo")
    with psycopg.connect(empty_database, autocommit=True) as connection:
        clients.revoke_client(connection, client_id)
    text = prepare(empty_database, settings)
    assert "Bearer" not in text
    assert "sample-resource token --scope view_test:demo" in text


def test_a_project_is_deleted_with_its_clients_and_words(
    app: Flask, project: str, database_url: str, connection: psycopg.Connection
) -> None:
    scope = f"manage_test:{project}"
    token = run("token", "--scope", scope, url=database_url).stdout.strip()
    own, shared = (
        json.loads(run("client", "create", "--name", "c", "--scope", scopes, url=database_url).stdout)["client_id"]
        for scopes in (scope, f"{scope} view_test:another")
    )
    api = Api(app, project, token)
    size = len(api.create({"arrayOfStringExample": ["word"]})["objectTypeProperty"]["arrayOfStringExample"][0])
    listed = [line.split("\t") for line in run("db", "projects", "--bytes", url=database_url).stdout.splitlines()]
    (found,) = [(int(number), int(weight)) for key, number, weight in listed if key == project]
    assert found[0] == 1
    assert found[1] >= size
    arguments = ("db", "remove-project", "--project", project)
    assert run(*arguments, url=database_url).exit_code == 1  # nothing confirms it
    assert api.get().get_json()["results"] != []
    done = run(*arguments, "--yes", url=database_url)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"Deleted 1 resources and 1 clients of {project}.",
        f"The client {shared} has scopes of other projects too and stays: {scope} view_test:another",
    ]
    assert api.get().get_json()["results"] == []
    clients_left = [
        json.loads(line)["client_id"] for line in run("client", "list", url=database_url).stdout.splitlines()
    ]
    assert own not in clients_left
    assert shared in clients_left
    for table in ("resource", "resource_count", "word"):
        statement = sql.SQL("SELECT count(*) FROM {} WHERE project_key = %s").format(sql.Identifier(table))
        assert connection.execute(statement, (project,)).fetchone() == (0,), table


def test_words_that_no_resource_has_any_more_are_removed(
    project: str, database_url: str, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.bulk.all_projects.time.sleep", lambda _: None)
    connection.execute("INSERT INTO word (project_key, word) VALUES (%s, 'one'), (%s, 'two')", (project, project))
    done = run("db", "remove-words", url=database_url)
    assert done.exit_code == 0, done.output
    assert f"{project}  2 words removed" in done.stdout.splitlines()
    assert f"{project}  2 words removed" not in run("db", "remove-words", url=database_url).stdout
