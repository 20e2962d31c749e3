"""Hosts that are served, and letter case in project keys."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.config import Settings
from app.http.paths import FIXED_WORDS, RawPath
from app.values.patterns import PROJECT_KEY_PATTERN
from tests.support.api import Api, codes
from tests.support.applications import open_app
from tests.support.fixtures import TokenFor


def test_a_fixed_word_is_no_id(app: Flask) -> None:
    below = [str(rule).removeprefix("/<project_key:project_key>/resource/") for rule in app.url_map.iter_rules()]
    words = {segment for segment in below if "/" not in segment and "<" not in segment}
    assert words == set(FIXED_WORDS), "FIXED_WORDS in app/http/paths.py lacks a path, so other methods reach {id}"


def test_every_first_word_of_another_url_is_a_project_key(app: Flask, token_for: TokenFor) -> None:
    words = {str(rule).split("/")[1] for rule in app.url_map.iter_rules()}
    keys = sorted(word for word in words if re.fullmatch(PROJECT_KEY_PATTERN, word))
    assert "docs" in keys
    for key in keys:
        assert Api(app, key, token_for(f"view_test:{key}")).get().status_code == 200, key


@pytest.fixture(scope="module")
def hosted(settings: Settings) -> Iterator[Flask]:
    """An application with a base domain."""
    with open_app(settings, base_domain="example.com", connections=2) as app:
        yield app


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "api.example.com",
        "api.gcp.example.com",
        "api.a.b.c.example.com",
        "www.europe-west1.gcp.example.com",
        "api..gcp.example.com",
        "api.europe-west1.gcp.example.org",
        "api.europe-west1.gcp.example.com.evil.org",
        "api.europe-west1.gcp.exampleXcom",
        "api.-a.gcp.example.com",
        "api.europe_west1.gcp.example.com",
        "127.0.0.1.example.org",
        "[::1",
        "10.0.0.1:8000",
    ],
)
def test_a_host_outside_the_base_domain_is_400(hosted: Flask, project: str, token_for: TokenFor, host: str) -> None:
    answer = Api(hosted, project, token_for(f"view_test:{project}")).get(headers={"Host": host})
    assert (answer.status_code, codes(answer)) == (400, ["InvalidInput"])


@pytest.mark.parametrize(
    ("changes", "own", "foreign"),
    [
        ({}, ["localhost:", "LOCALHOST:1", "127.9.9.9", "[::1]:8000", "api.x.y.Example.com:"], ["10.1.2.3", "a.org"]),
        ({"bind": "0.0.0.0"}, ["127.0.0.1:8000", "localhost", "[::1]"], ["0.0.0.0:8000"]),  # noqa: S104 -- compared
        ({"bind": "10.1.2.3"}, ["10.1.2.3:8000", "10.1.2.3"], ["127.0.0.1:8000", "localhost", "10.1.2.4"]),
        (
            {"bind": "10.1.2.3", "public_url": "https://Shop.example.org/v2"},
            ["shop.example.org", "SHOP.example.org:443"],
            ["10.1.2.3:8000", "example.org"],
        ),
    ],
)
def test_beside_the_base_domain_the_hosts_of_its_own_addresses_are_served(
    settings: Settings, changes: dict[str, Any], own: list[str], foreign: list[str]
) -> None:
    with open_app(settings, base_domain="example.com", connections=1, **changes) as app:
        statuses = {
            host: app.test_client().get("/health/live", headers={"Host": host}).status_code for host in own + foreign
        }
    assert statuses == dict.fromkeys(own, 200) | dict.fromkeys(foreign, 400)


def test_without_a_base_domain_every_host_of_a_valid_form_is_accepted(api: Api) -> None:
    for host in ("localhost", "127.0.0.1:8000", "api.europe-west1.gcp.example.com", "[::1]:8000", "a_b", "a_b%20"):
        assert api.get(headers={"Host": host}).status_code == 200
    for host in ("%", "a..b", ".", "a" * 64):
        assert "the Host header is no host" in api.get(headers={"Host": host}).get_json()["message"]


@pytest.mark.parametrize("target", ["http://one.example/p/resource", "http://one.example/p/resource?x=%20"])
def test_the_host_of_a_target_in_absolute_form_counts(target: str) -> None:
    """RFC 9112, section 3.2.2: the Host header is ignored then."""
    for sent, host in ((target, "one.example"), ("/p/a://b", "two.example")):
        environ = {"RAW_URI": sent, "PATH_INFO": "/p/resource", "HTTP_HOST": "two.example"}
        RawPath(lambda *_: [])(environ, None)
        assert environ["HTTP_HOST"] == host


def test_what_follows_a_stray_percent_sign_is_decoded_once() -> None:
    environ = {"RAW_URI": "/p/a%%32Fb", "PATH_INFO": "/p/a%2Fb"}
    RawPath(lambda *_: [])(environ, None)
    assert environ["PATH_INFO"] == "/p/a%252Fb"  # the converter makes a%2Fb of it
