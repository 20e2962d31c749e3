"""Revocation of tokens and clients: POST /oauth/revoke (RFC 7009) and the command line."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from flask import Flask

from app.cli import main
from app.config import Settings
from app.database.connection import Connection
from app.identity import clients
from tests.support.api import Api, codes, send_concurrently
from tests.support.applications import open_app, own_database
from tests.support.cluster import Cluster
from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import Gunicorn, StartGunicorn
from tests.support.oauth import OAuthClient, refused
from tests.support.waiting import wait_until

IN_FORCE_WITHIN_S = 60.0


@pytest.fixture
def client(app: Flask, connection: Connection, project: str) -> OAuthClient:
    return OAuthClient(app, connection, f"manage_test:{project}")


@pytest.fixture
def other_worker(settings: Settings) -> Iterator[Flask]:
    """A second application on the same database, as in another worker process."""
    with open_app(settings) as application:
        yield application


def run(url: str, *arguments: str, exit_code: int = 0) -> str:
    """Run ``sample-resource`` with arguments, and return what it prints."""
    result = CliRunner().invoke(main, arguments, env={"DATABASE_URL": url})
    assert result.exit_code == exit_code, result.output
    return result.output


def seconds_until_refused(api: Api) -> float:
    waited = wait_until(lambda: api.get().status_code != 200, IN_FORCE_WITHIN_S)
    answer = api.get()
    assert (answer.status_code, answer.get_json()["error"]) == (401, "invalid_token")
    return waited


def test_a_revoked_token_is_refused_here_at_once_and_by_other_workers_in_time(
    client: OAuthClient, project: str, other_worker: Flask
) -> None:
    token, kept = client.token(), client.token()
    here, there = Api(client.app, project, token), Api(other_worker, project, token)
    assert (here.get().status_code, there.get().status_code) == (200, 200)
    answer = client.revoke(token)
    assert (answer.status_code, answer.get_json()) == (200, {})
    assert (answer.headers["Cache-Control"], here.get().status_code) == ("no-store", 401)
    seconds_until_refused(there)
    assert Api(client.app, project, kept).get().status_code == 200
    assert Api(other_worker, project, kept).get().status_code == 200


def test_a_revoked_client_gets_no_token_and_its_tokens_are_refused(
    client: OAuthClient, project: str, other_worker: Flask, database_url: str
) -> None:
    token = client.token()
    workers = [Api(client.app, project, token), Api(other_worker, project, token)]
    assert [api.get().status_code for api in workers] == [200, 200]
    printed = json.loads(run(database_url, "client", "revoke", client.id))
    assert printed["client_id"] == client.id
    for api in workers:
        seconds_until_refused(api)
    refused(client.grant(), 401, "invalid_client")
    refused(client.post("/oauth/introspect", {"token": token}), 401, "invalid_client")
    assert json.loads(run(database_url, "client", "revoke", client.id))["revoked_at"] == printed["revoked_at"]


def test_an_unknown_client_cannot_be_revoked(database_url: str) -> None:
    told = run(database_url, "client", "revoke", "nobody", exit_code=1)
    assert told == "Error: There is no client 'nobody'.\n"


def test_tokens_of_the_command_line_end_with_their_client(cluster: Cluster, settings: Settings, project: str) -> None:
    url = own_database(cluster)
    with open_app(settings, database_url=url) as app:
        given = [run(url, "token", "--scope", f"view_test:{project}").strip() for _ in range(2)]
        assert [Api(app, project, token).get().status_code for token in given] == [200, 200]
        assert [json.loads(line)["client_id"] for line in run(url, "client", "list").splitlines()] == ["command-line"]
        run(url, "client", "revoke", "command-line")
        for token in given:
            seconds_until_refused(Api(app, project, token))
        told = run(url, "token", "--scope", f"view_test:{project}", exit_code=1)
        assert told.startswith("Error: The client 'command-line' is revoked.")


def test_a_token_that_is_requested_while_its_client_is_revoked_is_refused(
    client: OAuthClient, connection: Connection, project: str
) -> None:
    def send(number: int) -> str | None:
        if number == 3:
            clients.revoke_client(connection, client.id)
            return None
        answer = client.grant()
        assert answer.status_code in (200, 401)
        return answer.get_json().get("access_token")

    given = [token for token in send_concurrently(8, send) if token is not None]
    refused(client.grant(), 401, "invalid_client")
    for token in given:
        assert Api(client.app, project, token).get().status_code == 401


def test_a_worker_without_a_database_answers_503_and_not_401(settings: Settings, token_for: TokenFor) -> None:
    with open_app(settings, database_url="host=127.0.0.1 port=1") as alone:
        answer = Api(alone, "p", token_for("manage_test:p")).get()
    assert (answer.status_code, codes(answer)) == (503, ["OverCapacity"])
    assert "Retry-After" in answer.headers


def test_tokens_and_their_revocation_outlive_the_processes(
    app: Flask, client: OAuthClient, database_url: str, project: str, start_gunicorn: StartGunicorn
) -> None:
    kept, revoked = client.token(), client.token()
    path = f"/{project}/resource?limit=0"

    def refused_by_each(server: Gunicorn) -> bool:
        return all(server.get(path, revoked) == 401 for _ in range(20))  # the workers take connections in turn

    before = start_gunicorn("wsgi:app", DATABASE_URL=database_url, WORKERS="2")
    assert {before.get(path, token) for token in (kept, revoked) for _ in range(20)} == {200}
    assert client.revoke(revoked).status_code == 200
    wait_until(lambda: refused_by_each(before))
    assert before.get(path, kept) == 200
    before.stop()
    after = start_gunicorn("wsgi:app", DATABASE_URL=database_url, WORKERS="2")
    assert refused_by_each(after)
    assert after.get(path, kept) == 200
