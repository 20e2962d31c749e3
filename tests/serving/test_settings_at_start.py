"""gunicorn started without ``serve``, as the lean image starts it: what is wrong with the settings is one line."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from app.database import migrate
from app.serving import gunicorn_process
from tests.support.cluster import Cluster
from tests.support.gunicorn_server import GUNICORN, StartGunicorn
from tests.support.ports import free_port
from tests.support.server import ROOT, get
from tests.support.service import running_service
from tests.support.waiting import wait_until

AS_THE_IMAGE = [*GUNICORN[:1], "-c", "python:app.serving.gunicorn_settings", "app:create_app()"]
IN_A_CHECKOUT = [*GUNICORN, "wsgi:app"]


def refused(command: list[str], **environment: str) -> str:
    """What gunicorn prints when it refuses to start."""
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": os.defpath, "PORT": str(free_port()), "WORKERS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr


@pytest.mark.parametrize("command", [AS_THE_IMAGE, IN_A_CHECKOUT], ids=["image", "checkout"])
@pytest.mark.parametrize(
    ("environment", "line"),
    [
        ({}, "DATABASE_URL: is not set; gunicorn by itself starts no PostgreSQL, 'sample-resource serve' does"),
        ({"PORT": "many"}, "PORT='many': a whole number from 1 to 65535 is expected"),
        ({"DATABASE_URL": "postgresql://u:hidden@h/d?made=up"}, "DATABASE_URL: is no connection string of libpq, as"),
        ({"DATABASE_URL_FILE": "/nowhere"}, "DATABASE_URL_FILE='/nowhere': the file cannot be read: No such file"),
    ],
)
def test_a_wrong_setting_ends_the_start_with_one_line(
    command: list[str], environment: dict[str, str], line: str
) -> None:
    (printed,) = refused(command, **environment).splitlines()
    assert printed.startswith(f"error: {line}")
    assert "hidden" not in printed


def test_serve_takes_the_url_of_the_database_from_a_file(cluster: Cluster, project: str, tmp_path: Path) -> None:
    """Its children get the value itself, and would refuse value and file together."""
    (tmp_path / "url").write_text(f"{cluster.create_database(project)}\n")
    with running_service(tmp_path / "log", DATABASE_URL_FILE=str(tmp_path / "url")) as port:
        assert get(port, "/health/ready")[0] == 200


def test_files_with_secrets_are_relative_to_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gunicorn runs in another folder."""
    (tmp_path / "token").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL_FILE", "url")
    monkeypatch.setenv("METRICS_TOKEN_FILE", "token")
    monkeypatch.setenv("SANDBOX_TOKEN_FILE", "token")
    environment = gunicorn_process._environment("dbname=x")
    assert environment["METRICS_TOKEN_FILE"] == environment["SANDBOX_TOKEN_FILE"] == str(tmp_path / "token")
    assert environment["DATABASE_URL"] == "dbname=x"
    assert "DATABASE_URL_FILE" not in environment
    monkeypatch.setenv("SSL_CERT_FILE", __file__)
    shutil.rmtree(tmp_path)  # as a new release may do; gunicorn can still be started again
    assert gunicorn_process._environment("dbname=x")["SSL_CERT_FILE"] == __file__


def test_the_service_starts_while_its_database_is_away(start_gunicorn: StartGunicorn) -> None:
    """So that it is there when the database comes back; readiness tells until then."""
    server = start_gunicorn("wsgi:app", DATABASE_URL=f"host=127.0.0.1 port={free_port()} dbname=x")
    assert (server.get("/health/live"), server.get("/health/ready")) == (200, 503)


def test_the_service_starts_before_its_database_is_migrated(
    cluster: Cluster, project: str, start_gunicorn: StartGunicorn
) -> None:
    url = cluster.create_database(project)
    server = start_gunicorn("wsgi:app", DATABASE_URL=url)
    assert server.get("/health/ready") == 503
    migrate.upgrade(url)
    wait_until(lambda: server.get("/health/ready") == 200)
