"""Switching the sandbox on, and who may use its routes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Request
from sample_resource_sandbox.api.answering import base_url_of
from tester import Service, with_sandbox
from werkzeug.test import EnvironBuilder

from app.config import InvalidSetting, Settings
from app.extension import adapted_to_extension
from app.serving.preparation import prepare
from tests.support.applications import open_app, own_database
from tests.support.cluster import Cluster
from tests.support.gunicorn_server import GUNICORN, StartGunicorn
from tests.support.ports import free_port
from tests.support.server import ROOT

TOKEN = "a-token-of-sixteen"


def test_without_it_nothing_is_there(app: Flask) -> None:
    client = app.test_client()
    for path in ("", "/page/main.js", "/projects", "/openapi.json", "/projects/p/rules", "/projects/p/report"):
        assert (client.get(f"/sandbox{path}").status_code, client.post(f"/sandbox{path}").status_code) == (404, 404)
    told = client.get("/sandbox", headers={"Accept": "text/html"})
    assert (told.status_code, told.mimetype) == (404, "text/html")
    assert "start the service\nwith <code>SANDBOX=on</code>" in told.text
    for other in (client.get("/sandbox"), client.post("/sandbox", headers={"Accept": "text/html"})):
        assert (other.status_code, other.get_json()["message"]) == (404, "URI not found: /sandbox")


def test_without_it_one_small_module_is_imported_for_the_page_at_the_root() -> None:
    code = (
        "import sys; from app import create_app; from app.config import Settings;"
        " client = create_app(Settings(database_url='dbname=none')).test_client();"
        " assert client.get('/', headers={'Accept': 'text/html'}).status_code == 200;"
        " print([name for name in sys.modules if 'sandbox' in name and name.count('.')])"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed.strip() == "['sample_resource_sandbox.package']"


def test_a_project_that_is_called_sandbox_keeps_its_resources(sandbox: Service) -> None:
    assert sandbox.send("GET", "/sandbox/resource").status == 401  # and not 404: the route is there
    made = sandbox.make(projectKey="sandbox")
    try:
        assert made.create()["version"] == 1
        assert len(made.listing()) == 1
    finally:
        assert made.order("DELETE").status == 204


EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 -- a setting, which nothing listens on


def switched_on(token: str | None = None, **changes: Any) -> Settings:
    """The settings that a service with the sandbox runs with."""
    return adapted_to_extension(with_sandbox(Settings(**changes), token))


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("bind", EVERY_ADDRESS, "is no loopback address"),
        ("bind", "192.168.1.5", "is no loopback address"),
        ("public_url", "https://api.example.com", "lets others reach it"),
        ("trusted_proxies", 1, "lets others reach it"),
        ("base_domain", "example.com", "lets others reach it"),
    ],
)
def test_where_others_reach_it_it_needs_a_token(variable: str, value: Any, reason: str) -> None:
    told = f"needs SANDBOX_TOKEN, since {variable.upper()}={value} {reason}"
    with pytest.raises(InvalidSetting, match=told):
        switched_on(**{variable: value})
    assert switched_on(TOKEN, **{variable: value}).workers == 1


@pytest.mark.parametrize("name", ["Forwarded", "Via", "x-forwarded-proto", "CF-Connecting-IP"])
def test_without_a_token_no_proxy_is_answered(sandbox: Service, name: str) -> None:
    for method, path in (("GET", ""), ("POST", "/projects")):
        answer = sandbox.send(method, f"/sandbox{path}", headers={name: "1.2.3.4"})
        assert answer.status == 403
        assert "refuses proxies, which add the header" in answer.json["message"]


def test_without_a_token_another_machine_is_refused(settings: Settings) -> None:
    with open_app(with_sandbox(settings)) as app:
        for peer, status in (("127.0.0.1", 200), ("127.8.0.1", 200), ("::1", 200), ("10.0.0.8", 403), ("junk", 403)):
            answer = app.test_client().get("/sandbox", environ_overrides={"REMOTE_ADDR": peer})
            assert (peer, answer.status_code) == (peer, status)


def test_more_workers_are_refused_also_by_an_option_of_gunicorn() -> None:
    """Before a worker is forked: the second would wait for the sandbox that the first one has."""
    assert adapted_to_extension(Settings.from_environment({"SANDBOX": "on"})).workers == 1
    with pytest.raises(InvalidSetting, match="WORKERS='2': with SANDBOX=on one process serves all"):
        adapted_to_extension(Settings.from_environment({"SANDBOX": "on", "WORKERS": "2"}))
    ended = subprocess.run(
        [*GUNICORN, "--workers", "2", "wsgi:app"],
        cwd=ROOT,
        env={"PATH": os.defpath, "PORT": str(free_port()), "SANDBOX": "on", "DATABASE_URL": "host=127.0.0.1 port=1"},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert ended.returncode == 1
    (printed,) = ended.stderr.splitlines()
    assert printed.startswith("error: gunicorn's --workers: WORKERS='2': with SANDBOX=on one process serves all")


def test_the_switch_is_off_or_on() -> None:
    with pytest.raises(InvalidSetting, match="SANDBOX='ON': is neither off nor on"):
        adapted_to_extension(Settings.from_environment({"SANDBOX": "ON"}))


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"])
def test_a_loopback_host_is_answered(sandbox: Service, host: str) -> None:
    assert sandbox.send("GET", "/sandbox/projects", headers={"Host": host}).status == 200


@pytest.mark.parametrize("host", ["example.com", "localhost.example.com", "127.0.0.1.example.com", "127.0.0.2"])
def test_another_host_is_refused(sandbox: Service, host: str) -> None:
    answer = sandbox.send("GET", "/sandbox/projects", headers={"Host": host})
    assert (answer.status, answer.json["errors"][0]["code"]) == (403, "insufficient_scope")


@pytest.mark.parametrize("origin", ["https://localhost:1234", "http://localhost:3000", "http://example.com", "null"])
def test_a_foreign_origin_is_refused(sandbox: Service, origin: str) -> None:
    for each, status in ((origin, 403), ("http://localhost:1234", 200)):
        headers = {"Host": "localhost:1234", "Origin": each}
        assert sandbox.send("GET", "/sandbox/projects", headers=headers).status == status


def test_a_body_has_to_be_json(sandbox: Service) -> None:
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = sandbox.send("POST", "/sandbox/projects", headers={"Content-Type": content_type}, raw=b"{}")
        assert answer.status == 415
    assert sandbox.send("POST", "/sandbox/projects", headers={"Content-Type": "text/plain"}, raw=b"").status == 201


def test_with_a_token_every_route_needs_it(settings: Settings) -> None:
    with open_app(with_sandbox(settings, TOKEN), bind=EVERY_ADDRESS) as app:
        client = app.test_client()
        for path in ("/sandbox/projects", "/sandbox/openapi.json", "/sandbox/projects/p/requests.har"):
            refused = client.get(path, base_url="http://sandbox.example.com")
            assert (refused.status_code, refused.headers["WWW-Authenticate"][:6]) == (401, "Bearer")
            assert client.get(path, headers={"Authorization": f"Bearer {TOKEN}x"}).status_code == 401
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert client.get("/sandbox/projects", headers=bearer, base_url="http://x.example.com").status_code == 200
        foreign = {**bearer, "Origin": "http://evil.example.com"}
        assert client.get("/sandbox/projects", headers=foreign).status_code == 403


def test_other_projects_are_unknown_to_it(sandbox: Service) -> None:
    calls = """GET DELETE POST/reset PUT/clock PUT/ids GET/rules DELETE/rules GET/requests GET/requests/1
        DELETE/requests GET/requests.har POST/requests/expect GET/report GET/resources"""
    for method, slash, path in (call.partition("/") for call in calls.split()):
        body = {} if method in ("POST", "PUT") else None
        assert sandbox.send(method, f"/sandbox/projects/demo{slash}{path}", body).status == 404, path


@pytest.mark.parametrize(("token", "who"), [("", "everybody on this machine"), (TOKEN, "whoever has SANDBOX_TOKEN")])
def test_a_service_with_the_sandbox_says_so_in_what_it_prints_and_in_its_log(
    cluster: Cluster, start_gunicorn: StartGunicorn, tmp_path: Path, token: str, who: str
) -> None:
    database_url = own_database(cluster)
    settings = with_sandbox(Settings(database_url=database_url), token or None)
    assert f"WARNING  SANDBOX=on: {who}" in prepare(database_url, settings)
    assert "SANDBOX" not in prepare(database_url, Settings(database_url=database_url))
    log = tmp_path / "log"
    start_gunicorn("wsgi:app", log=log, DATABASE_URL=database_url, SANDBOX="on", SANDBOX_TOKEN=token)
    lines = [json.loads(line) for line in log.read_text().splitlines() if "SANDBOX=on" in line]
    assert [line["level"] for line in lines] == ["warning"], "once, by the master"
    assert who in lines[0]["message"]


def test_a_request_without_a_host_is_refused(sandbox: Service) -> None:
    for head in ("GET /sandbox/projects HTTP/1.0\r\n", "GET /sandbox/projects HTTP/1.0\r\nHost:\r\n"):
        with socket.create_connection(("127.0.0.1", sandbox.port), timeout=20) as connection:
            connection.sendall(f"{head}\r\n".encode())
            assert connection.recv(65536).split(b" ")[1] in (b"403", b"400")


@pytest.mark.parametrize(
    ("public_url", "host", "base"),
    [
        (None, "localhost:18000", "http://localhost:18000"),
        (None, "[::1]:18000", "http://[::1]:18000"),
        ("http://127.0.0.1:8000", "localhost:18000", "http://localhost:18000"),
        (None, "sandbox.test", "http://127.0.0.1:8000"),
        ("https://api.example.com", "localhost:18000", "https://api.example.com"),
    ],
)
def test_addresses_are_those_under_which_the_tester_came(public_url: str | None, host: str, base: str) -> None:
    settings = Settings(database_url="dbname=none", public_url=public_url)
    builder = EnvironBuilder(path="/sandbox/projects", headers=[("Host", host)])
    assert base_url_of(Request(builder.get_environ()), settings) == base
