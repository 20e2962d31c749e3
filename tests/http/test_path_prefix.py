"""Below a path of a reverse proxy: every address that the service gives out begins with ``X-Forwarded-Prefix``."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask

from app import create_app
from app.config import Settings
from tests.support.api import EXAMPLE, Api

FORWARDED = {
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "api.example.com",
    "X-Forwarded-Prefix": "/shop/v1",
}


@pytest.fixture(scope="module")
def behind(settings: Settings) -> Iterator[Flask]:
    """The application with one proxy in front."""
    app = create_app(replace(settings, trusted_proxies=1))
    yield app
    app.extensions["database"].close()


@pytest.fixture
def below(behind: Flask, api: Api) -> Api:
    return Api(behind, api.project, api.token)


def location(api: Api, **headers: str) -> str:
    answer = api.post(json={"objectTypeProperty": EXAMPLE}, headers=headers)
    assert answer.status_code == 201
    return answer.headers["Location"]


def test_the_address_of_a_new_resource_begins_with_the_prefix(below: Api) -> None:
    found = location(below, **FORWARDED)
    assert found.startswith(f"/shop/v1/{below.project}/resource/")
    # The proxy takes the prefix off before it passes a request on.
    assert below.request("GET", f"/{found.removeprefix('/shop/v1')}", headers=FORWARDED).status_code == 200


def test_segments_stay_whole(below: Api) -> None:
    path = "/artificially-complex/path/uri-parameter-one=a%2Fb/two?queryParameterOne=0.5"
    answer = below.post(path, json={"custom": True}, headers=FORWARDED)
    assert answer.get_json()["arrayOfStringExample"][:2] == ["a/b", "two"]


def test_the_documentation_finds_its_parts(behind: Flask) -> None:
    page = behind.test_client().get("/docs", headers=FORWARDED).text
    assert "/shop/v1/docs/" in page
    assert 'src="/docs' not in page
    document = behind.test_client().get("/openapi.json", headers=FORWARDED).get_json()
    assert [server["url"] for server in document["servers"]] == ["/shop/v1"]
    flows = document["components"]["securitySchemes"]["clientCredentials"]["flows"]
    assert flows["clientCredentials"]["tokenUrl"] == "/shop/v1/oauth/token"
    without = behind.test_client().get("/openapi.json").get_json()
    assert [server["url"] for server in without["servers"]] == ["/"]
    assert document["paths"] == without["paths"]


def test_the_authorization_server_is_below_the_prefix(behind: Flask) -> None:
    metadata = behind.test_client().get("/.well-known/oauth-authorization-server", headers=FORWARDED).get_json()
    assert metadata["issuer"] == "https://api.example.com/shop/v1"
    assert metadata["token_endpoint"] == "https://api.example.com/shop/v1/oauth/token"
    assert metadata["jwks_uri"] == "https://api.example.com/shop/v1/.well-known/jwks.json"


def test_without_trusted_proxies_the_header_is_nothing(api: Api) -> None:
    assert location(api, **FORWARDED).startswith(f"/{api.project}/")


def test_of_several_only_the_trusted_proxys_word_counts(below: Api) -> None:
    assert location(below, **FORWARDED | {"X-Forwarded-Prefix": "/made-up, /shop"}).startswith("/shop/")


@pytest.mark.parametrize(
    "prefix", ["//attacker.example", "https://attacker.example", "shop", "/a/../b", "/.", "/a b", '/"', "/%2e", "/a//b"]
)
def test_what_is_no_prefix_is_ignored(below: Api, prefix: str) -> None:
    assert location(below, **{"X-Forwarded-Prefix": prefix}).startswith(f"/{below.project}/")


@pytest.mark.parametrize("prefix", ["/shop/", "/"])
def test_a_slash_at_the_end_is_not_doubled(below: Api, prefix: str) -> None:
    assert location(below, **{"X-Forwarded-Prefix": prefix}).startswith(f"{prefix.rstrip('/')}/{below.project}/")
