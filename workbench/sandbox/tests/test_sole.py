"""One instance has the sandbox of a database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_resource_sandbox.projects.sole import SoleInstance
from tester import with_sandbox

from app.config import Settings
from app.database import migrate
from app.database.connection import Connection
from app.extension import installed_package
from tests.support.applications import open_app
from tests.support.cluster import Cluster

pytestmark = pytest.mark.one_machine("The locks of a database of its own.")


@pytest.fixture
def url(cluster: Cluster, project: str) -> str:
    return cluster.create_database(project)


@pytest.fixture
def first(url: str) -> Iterator[SoleInstance]:
    instance = SoleInstance(url, Settings(database_url=url))
    assert instance.take(0)
    yield instance
    instance.release()


def test_a_second_instance_is_refused_until_the_first_has_ended(url: str, first: SoleInstance) -> None:
    second = SoleInstance(url, Settings(database_url=url))
    assert not second.take(0)
    first.release()
    assert second.take(60)  # the server may not have seen the end of the connection yet
    second.release()


def test_without_the_tables_of_the_sandbox_the_database_lacks_migrations(url: str, settings: Settings) -> None:
    migrate.upgrade(url)
    with open_app(with_sandbox(settings), database_url=url) as app:
        client = app.test_client()
        assert client.post("/sandbox/projects", json={}).status_code == 503
        for path in ("/oauth/token", "/oauth/revoke"):
            form = {"grant_type": "client_credentials", "token": "a"}
            answer = client.post(path, data=form, auth=("nobody", "secret"))
            assert answer.status_code in (401, 503), path
            assert answer.headers["X-Correlation-ID"]
        assert "lacks 1 of 2 migrations" in app.test_client().get("/health/ready").get_json()["message"]


def test_an_answer_stands_if_the_sandbox_cannot_note_it(url: str, settings: Settings) -> None:
    migrate.upgrade(url, installed_package().migrations)
    with open_app(with_sandbox(settings), database_url=url) as app, pytest.MonkeyPatch.context() as patch:
        client = app.test_client()
        made = client.post("/sandbox/projects", json={}).get_json()
        patch.setattr("sample_resource_sandbox.faults.noting.Exchange.decide", None)
        headers = {"Authorization": f"Bearer {made['accessToken']}"}
        answer = client.get(f"/{made['projectKey']}/resource", headers=headers)
        assert answer.status_code == 200
        assert answer.headers["X-Correlation-ID"]


def test_a_lock_that_a_restart_has_ended_is_taken_again(
    url: str, first: SoleInstance, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    second = SoleInstance(url, Settings(database_url=url))
    connection.execute(
        "SELECT pg_terminate_backend(l.pid, 60000) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
        " WHERE l.locktype = 'advisory' AND d.datname = %s",
        (url.partition("dbname=")[2].partition(" ")[0],),
    )
    assert first.keep()
    assert not second.take(0)
    assert caplog.records == []
    assert first.keep()
    first.release()
    assert second.take(60)  # the server may not have seen the end of the connection yet
    assert not first.keep()
    second.release()
    assert first.keep()


def test_a_service_starts_while_the_database_is_away(tmp_path: Path) -> None:
    settings = with_sandbox(Settings(database_url=f"host={tmp_path} dbname=none"))
    with open_app(settings) as app:
        app.extensions["extension"].start()
        app.extensions["extension"].stop()


def test_a_service_whose_sandbox_another_has_does_not_start(url: str, first: SoleInstance) -> None:
    with open_app(with_sandbox(Settings(database_url=url))) as app, pytest.MonkeyPatch.context() as patch:
        patch.setattr(SoleInstance.take, "__defaults__", (0,))
        with pytest.raises(SystemExit, match="3"):
            app.extensions["extension"].start()
