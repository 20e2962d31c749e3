"""Every address that the service prints or publishes works as it stands, however it is set up."""

import re
from itertools import product
from typing import Any
from urllib.parse import SplitResult, urlsplit

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.config import Settings
from app.identity import clients
from app.serving.preparation import DEMO_CLIENT, DEMO_SCOPES, prepare
from tests.support.applications import open_app

BASE_DOMAINS = (None, "example.com")
PUBLIC_URLS = (None, "https://shop.example.org", "http://10.9.8.7:8080/v2")
PORTS = (8000, 80)
BINDS = ("127.0.0.1", "0.0.0.0", "::1", "localhost", "10.1.2.3")  # noqa: S104 -- compared, not bound

SETTINGS = [
    {"base_domain": base_domain, "public_url": public_url, "port": port, "bind": bind}
    for base_domain, public_url, port, bind in product(BASE_DOMAINS, PUBLIC_URLS, PORTS, BINDS)
]

ADDRESS = re.compile(r"https?://[^\s\"'<>]+")


def below(url: str, settings: Settings) -> tuple[str, dict[str, str]]:
    """The path and the headers with which a request for a URL arrives: a proxy removes the path of ``PUBLIC_URL``."""
    parts = urlsplit(url)
    return parts.path.removeprefix(urlsplit(settings.public_url or "").path) or "/", {"Host": parts.netloc}


def expect_reached(parts: SplitResult, settings: Settings) -> None:
    """Expect scheme, host and port at which clients reach the service: the proxy's, else those of gunicorn."""
    reached = urlsplit(settings.public_url or f"http://{settings.listen_address}")
    assert (parts.scheme, parts.port or 80) == (reached.scheme, reached.port or 80)
    every_address = settings.public_url is None and settings.bind == "0.0.0.0"  # noqa: S104 -- compared
    assert parts.hostname == ("127.0.0.1" if every_address else reached.hostname)


def filled_in(server: dict[str, Any]) -> str:
    """The URL of a server of the document, with the defaults of its variables."""
    url: str = server["url"]
    for name, variable in server.get("variables", {}).items():
        url = url.replace(f"{{{name}}}", variable["default"])
    return url


@pytest.mark.parametrize("changes", SETTINGS, ids=lambda changes: "-".join(str(value) for value in changes.values()))
def test_each_address_is_served(settings: Settings, database_url: str, changes: dict[str, Any]) -> None:
    with open_app(settings, connections=1, **changes) as app:
        own: Settings = app.extensions["settings"]
        client = app.test_client()
        expect_document_works(client, own)
        expect_banner_works(app, client, own, database_url)


def status(client: FlaskClient, url: str, settings: Settings, method: str = "GET", **headers: str) -> int:
    """The answer's status for a URL."""
    path, own = below(url, settings)
    with client.open(path, method=method, headers={**own, **headers}) as answer:
        return answer.status_code


def read(client: FlaskClient, url: str, settings: Settings) -> Any:
    """The JSON at a URL."""
    path, own = below(url, settings)
    return client.get(path, headers=own).get_json()


def expect_document_works(client: FlaskClient, settings: Settings) -> None:
    document = read(client, f"{settings.base_url}/openapi.json", settings)
    own, *templated = document["servers"]
    assert own["url"] == settings.base_url
    expect_reached(urlsplit(own["url"]), settings)
    assert len(templated) == (settings.base_domain is not None)
    for server in document["servers"]:
        url = filled_in(server)
        assert urlsplit(url)._replace(netloc="") == urlsplit(own["url"])._replace(netloc="")
        assert urlsplit(url).port == urlsplit(own["url"]).port
        assert status(client, f"{url}/health/live", settings) == 200
    for server in templated:
        assert server["url"].split("//")[1].startswith("api.{region}.{cloudProvider}.example.com")
        for region, provider in (("r", "p"), ("1-a", "x" * 63)):
            url = server["url"].replace("{region}", region).replace("{cloudProvider}", provider)
            assert status(client, f"{url}/health/live", settings) == 200
        assert all("hyphens" in variable["description"] for variable in server["variables"].values())
    token_url = document["components"]["securitySchemes"]["clientCredentials"]["flows"]["clientCredentials"]["tokenUrl"]
    assert status(client, token_url, settings, "POST") == 401


def expect_banner_works(app: Flask, client: FlaskClient, settings: Settings, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        # The banner has a token as long as the demo client is there, which other tests do not make.
        if clients.find_client(connection, DEMO_CLIENT, DEMO_SCOPES) is None:
            clients.create_client(connection, DEMO_CLIENT, DEMO_SCOPES)
    banner = prepare(database_url, settings)
    addresses = ADDRESS.findall(banner)
    assert len(addresses) == 3
    for url in addresses[1:2]:
        expect_reached(urlsplit(url), settings)
        assert status(client, url, settings) == 200
    curl = re.search(r"curl -H '(Authorization): ([^']+)' (\S+)", banner)
    assert curl is not None
    name, value, url = curl.groups()
    assert status(client, url, settings, **{name: value}) == 200
