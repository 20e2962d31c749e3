"""Behind a reverse proxy that removes a path prefix, every URL in an answer begins with ``X-Forwarded-Prefix``."""

from collections.abc import Iterator

import pytest
from flask import Flask

from app.config import Settings
from tests.support.api import EXAMPLE, Api
from tests.support.applications import open_app

FORWARDED = {
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "api.example.com",
    "X-Forwarded-Prefix": "/shop/v1",
}


@pytest.fixture(scope="module")
def proxied_app(settings: Settings) -> Iterator[Flask]:
    """An application that trusts one proxy."""
    with open_app(settings, trusted_proxies=1) as app:
        yield app


@pytest.fixture
def proxied(proxied_app: Flask, api: Api) -> Api:
    """A client of the application that trusts one proxy."""
    return Api(proxied_app, api.project, api.token)


def location(api: Api, **headers: str) -> str:
    """The Location of a resource that a request with these headers creates."""
    answer = api.post(json={"objectTypeProperty": EXAMPLE}, headers=headers)
    assert answer.status_code == 201
    return answer.headers["Location"]


def test_location_begins_with_the_forwarded_prefix(proxied: Api) -> None:
    found = location(proxied, **FORWARDED)
    assert found.startswith(f"/shop/v1/{proxied.project}/resource/")
    # The proxy removes the prefix from the path before it forwards a request.
    assert proxied.request("GET", f"/{found.removeprefix('/shop/v1')}", headers=FORWARDED).status_code == 200


def test_addresses_are_those_of_the_public_url_whatever_a_proxy_forwards(settings: Settings) -> None:
    with open_app(settings, trusted_proxies=1, public_url="https://shop.example.com/v2") as app:
        client = app.test_client()
        for headers in ({}, FORWARDED):
            document = client.get("/openapi.json", headers=headers).get_json()
            assert [server["url"] for server in document["servers"]] == ["https://shop.example.com/v2"]
            flows = document["components"]["securitySchemes"]["clientCredentials"]["flows"]
            assert flows["clientCredentials"]["tokenUrl"] == "https://shop.example.com/v2/oauth/token"


def test_without_trusted_proxies_the_forwarded_prefix_is_ignored(api: Api) -> None:
    assert location(api, **FORWARDED).startswith(f"/{api.project}/")


def test_of_several_forwarded_prefixes_the_one_of_the_trusted_proxy_is_used(proxied: Api) -> None:
    assert location(proxied, **FORWARDED | {"X-Forwarded-Prefix": "/made-up, /shop"}).startswith("/shop/")


@pytest.mark.parametrize(
    "prefix", ["//attacker.example", "https://attacker.example", "shop", "/a/../b", "/.", "/a b", '/"', "/%2e", "/a//b"]
)
def test_an_invalid_forwarded_prefix_is_ignored(proxied: Api, prefix: str) -> None:
    assert location(proxied, **{"X-Forwarded-Prefix": prefix}).startswith(f"/{proxied.project}/")
