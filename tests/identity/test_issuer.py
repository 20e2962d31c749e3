"""The name of the service in tokens and metadata: PUBLIC_URL, unless TOKEN_ISSUER sets another."""

from typing import Any

import pytest
from flask import Flask

from app.config import InvalidSetting, Settings
from app.database.connection import Connection
from app.identity import issued_tokens
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.oauth import OAuthClient, part

PUBLIC = "https://api.example.com/shop"


def metadata_of(app: Flask) -> dict[str, Any]:
    return app.test_client().get("/.well-known/oauth-authorization-server").get_json()


@pytest.mark.parametrize(
    ("changes", "issuer", "base"),
    [
        ({}, "http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ({"port": 9000, "bind": "::"}, "http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ({"bind": "::1"}, "http://[::1]:8000", "http://[::1]:8000"),
        ({"public_url": PUBLIC}, PUBLIC, PUBLIC),
        ({"public_url": PUBLIC, "token_issuer": "urn:shop"}, "urn:shop", PUBLIC),
        ({"public_url": PUBLIC, "token_issuer": "https://id.example.com"}, "https://id.example.com", PUBLIC),
        ({"token_issuer": "https://id.example.com"}, "https://id.example.com", "https://id.example.com"),
        ({"token_issuer": "urn:shop"}, "urn:shop", "http://127.0.0.1:8000"),
    ],
)
def test_tokens_and_metadata_have_one_issuer(
    settings: Settings, connection: Connection, project: str, changes: dict[str, Any], issuer: str, base: str
) -> None:
    with open_app(settings, **changes) as app:
        metadata = metadata_of(app)
        assert metadata["issuer"] == issuer
        assert metadata["token_endpoint"] == f"{base}/oauth/token"
        assert metadata["jwks_uri"] == f"{base}/.well-known/jwks.json"
        client = OAuthClient(app, connection, f"manage_test:{project}")
        token = client.grant().get_json()["access_token"]
        assert part(token, 1)["iss"] == part(token, 1)["aud"] == issuer
        assert Api(app, project, token).get().status_code == 200


@pytest.mark.parametrize(
    ("issuer", "status"), [(PUBLIC, 200), (f"{PUBLIC}/", 401), ("http://127.0.0.1:8000", 401), ("sample-resource", 401)]
)
def test_a_token_names_the_service_as_it_is_named_now(
    settings: Settings, connection: Connection, project: str, issuer: str, status: int
) -> None:
    token = issued_tokens.issue_token(connection, issuer, "someone", (f"manage_test:{project}",), 60)
    with open_app(settings, public_url=PUBLIC) as app:
        assert Api(app, project, token).get().status_code == status


def test_public_urls() -> None:
    for url in (
        "https://api.example.com",
        "https://api.example.com:8443/a/b",
        "http://127.0.0.1:9000",
        "http://localhost",
        "http://[::1]:8000",
        "http://10.1.2.3:8000",
        "http://sample-resource:8000",
    ):
        assert Settings.from_environment({"PUBLIC_URL": url}).base_url == url
        assert Settings.from_environment({"PUBLIC_URL": f"{url}/"}).base_url == url
    for url in (
        "http://api.example.com",
        "http://8.8.8.8",
        "ftp://api.example.com",
        "api.example.com",
        "//api.example.com",
        "https://",
        "https://user@api.example.com",
        "https://api.example.com?a=b",
        "https://api.example.com/?",
        "https://api.example.com#a",
        "https://api.example.com/a b",
        "https://api.example.com/ä",
        "https://api.example.com:port",
        "https://[",
    ):
        with pytest.raises(InvalidSetting, match=r"PUBLIC_URL=.* (expected|without a dot)"):
            Settings.from_environment({"PUBLIC_URL": url})


def test_the_document_names_the_public_url_also_with_a_base_domain(settings: Settings) -> None:
    with open_app(settings, public_url=PUBLIC) as app:
        document = app.test_client().get("/openapi.json").get_json()
    (server,) = document["servers"]
    assert server["url"] == PUBLIC
    assert "BASE_DOMAIN" in server["description"]
    with open_app(settings, public_url=PUBLIC, base_domain="example.com") as app:
        url = "http://api.europe-west1.gcp.example.com/openapi.json"
        servers = app.test_client().get(url).get_json()["servers"]
        assert servers[0] == {"url": PUBLIC, "description": "this server"}
        assert servers[1]["variables"].keys() == {"region", "cloudProvider"}
