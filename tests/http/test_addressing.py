"""Routing of requests: project keys, fixed words in paths, ``key=``, unknown URLs, methods, and hosts."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.config import Settings
from app.http.paths import RawPath
from tests.conftest import TokenFor
from tests.support.api import UNKNOWN_ID, Api, codes
from tests.support.applications import open_app
from tests.support.cases import paired

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}


def allowed(answer: TestResponse) -> set[str]:
    """The methods in the Allow header, without OPTIONS."""
    return {method.strip() for method in answer.headers["Allow"].split(",")} - {"OPTIONS"}


# Project keys


@pytest.mark.parametrize("key", ["a", "_", "-", "0", "Project_Key-1", "resource", "health-1", 64 * "x"])
def test_any_valid_project_key_is_served_without_registration(app: Flask, token_for: TokenFor, key: str) -> None:
    answer = Api(app, key, token_for(f"view_test:{key}")).get("?limit=0")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("key", "method"),
    paired(
        [65 * "x", "a.b", "a b", "a%20b", "ä", "%C3%A4", "a%2Fb", "a%00", "a%0A", "a:b", "a%25b", ""], sorted(METHODS)
    ),
)
def test_an_invalid_project_key_is_404(app: Flask, token_for: TokenFor, key: str, method: str) -> None:
    api = Api(app, "p", token_for("manage_test:p"))
    assert api.request(method, f"//{key}/resource").status_code == 404


def test_project_keys_are_case_sensitive(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create()
    upper = api.project.upper()
    assert api.get(f"//{upper}/resource").status_code == 403
    other = Api(app, upper, token_for(f"manage_test:{upper}"))
    assert other.get(f"/{created['id']}").status_code == 404


def test_a_token_for_another_project_is_403(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create(key="a-key")
    stranger = Api(app, api.project, token_for(f"manage_test:{api.project}x", "manage_test", "manage_test:*"))
    body = {"objectTypeProperty": {}, "version": 1}
    assert stranger.get().status_code == 403
    assert stranger.head().status_code == 403
    assert stranger.post(json=body).status_code == 403
    assert stranger.put(body).status_code == 403
    assert stranger.patch(body).status_code == 403
    assert stranger.delete(f"/{created['id']}").status_code == 403
    assert stranger.get("/key=a-key").status_code == 403


def test_two_projects_may_use_the_same_resource_key(api: Api, other_project: Api) -> None:
    mine = api.create(key="a-key")
    theirs = other_project.create(key="a-key")
    assert api.get("/key=a-key").get_json() == mine
    assert other_project.get("/key=a-key").get_json() == theirs


# Unknown URLs


@pytest.mark.parametrize(
    ("path", "method"),
    paired(
        [
            "//",
            "//{project}",
            "//{project}/",
            "//{project}/resources",
            "//{project}/Resource",
            "/",
            "//{project}//resource",
            "/{unknown}/",
            "/{unknown}/more",
            "/key=a-key/",
            "/key=a-key/more",
            "/sorted-query-parameters/",
            "/sorted-query-parameters/more",
            "/artificially-complex/path",
            "/artificially-complex/path/uri-parameter-two=a/b",
            "/artificially-complex/path/Uri-Parameter-One=a/b",
            "//{project}/resource%2Fkey=a-key",
            "//.env",
        ],
        ["GET", "POST", "DELETE"],
    ),
)
def test_an_unknown_url_is_404_in_json_with_and_without_a_token(app: Flask, api: Api, path: str, method: str) -> None:
    target = path.format(project=api.project, unknown=UNKNOWN_ID)
    for sender in (api, Api(app, api.project, None)):
        answer = sender.request(method, target)
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]
        assert "Location" not in answer.headers


@pytest.mark.parametrize(
    ("path", "method"),
    paired(
        ["//{project}/resource", "///{project}/resource", "//health/live", "//docs", "//{project}//", "//\u00c3\u00a4"],
        ["GET", "POST", "HEAD"],
    ),
)
def test_an_empty_first_segment_makes_an_unknown_url(app: Flask, api: Api, path: str, method: str) -> None:
    # The path as WSGI has it: a test client would take the first segment for a host.
    target = path.format(project=api.project)
    headers = {"Authorization": f"Bearer {api.token}"}
    answer = app.test_client().open(method=method, headers=headers, environ_overrides={"PATH_INFO": target})
    assert answer.status_code == 404
    if method != "HEAD":
        assert codes(answer) == ["ResourceNotFound"]
        assert answer.get_json()["message"] == f"URI not found: {target.encode('latin-1').decode()}"


def test_every_response_has_a_correlation_id_and_a_malformed_one_is_replaced(api: Api) -> None:
    for path in ("", "/nothing", "//unknown"):
        sent = api.get(path, headers={"X-Correlation-ID": "project/request_1-a"})
        assert sent.headers["X-Correlation-ID"] == "project/request_1-a"
        for bad in ("short", 257 * "x", "with blank", "ü" * 10):
            made = api.get(path, headers={"X-Correlation-ID": bad}).headers["X-Correlation-ID"]
            assert made != bad
            assert len(made) >= 8


# Fixed words take precedence over ids


SERVED = {
    "": {"GET", "HEAD", "POST", "PUT", "PATCH"},
    f"/{UNKNOWN_ID}": {"GET", "HEAD", "POST", "DELETE"},
    "/key=a-key": {"GET", "HEAD"},
    "/key%3Da-key": {"GET", "HEAD"},
    "/key%3da-key": {"GET", "HEAD"},
    "/ke%79=a-key": {"GET", "HEAD"},
    "/key=": {"GET", "HEAD"},
    "/sorted-query-parameters": {"GET", "HEAD"},
    "/sorted%2Dquery%2dparameters": {"GET", "HEAD"},
    "/searchApiPattern": {"GET", "HEAD"},
    "/search%41piPattern": {"GET", "HEAD"},
    "/product-projection-search": {"POST"},
    "/product%2Dprojection%2Dsearch": {"POST"},
    "/description-with-urn-links": {"POST"},
    "/description%2Dwith%2Durn%2Dlinks": {"POST"},
    "/artificially-complex/path/uri-parameter-one=a/b": {"POST"},
}
"""Paths below ``/{projectKey}/resource``, and the methods that each has."""


@pytest.mark.parametrize(
    ("path", "method"),
    [(path, method) for path, served in SERVED.items() for method in sorted(METHODS - served)],
)
def test_an_unsupported_method_is_405_with_and_without_a_token(app: Flask, api: Api, path: str, method: str) -> None:
    for sender in (api, Api(app, api.project, None)):
        answer = sender.request(method, path, json={"objectTypeProperty": {}})
        assert answer.status_code == 405
        assert allowed(answer) == SERVED[path]
        if method != "HEAD":
            assert len(codes(answer)) == 1


@pytest.mark.parametrize("method", ["TRACE", "PROPFIND", "QUERY"])
def test_a_method_that_no_route_has_is_405(api: Api, method: str) -> None:
    for path in ("", f"/{UNKNOWN_ID}", "/key=a-key"):
        answer = api.request(method, path)
        assert answer.status_code == 405
        assert allowed(answer) == SERVED[path]


def test_a_segment_that_differs_from_a_fixed_word_is_an_id(api: Api) -> None:
    for path in (
        "key",
        "KEY=a-key",
        "Key=a",
        "keys=a",
        "searchapipattern",
        "searchApiPatterns",
        "sorted-query-parameter",
    ):
        answer = api.get(f"/{path}")
        assert answer.status_code == 404
        assert answer.get_json()["message"] == f"The Resource with ID '{path}' was not found."


def test_an_encoded_slash_does_not_split_a_path_segment(api: Api) -> None:
    by_id, by_key = api.get("/a%2Fb"), api.get("/key%3Da%2Fb")
    assert by_id.get_json()["message"] == "The Resource with ID 'a/b' was not found."
    assert by_key.get_json()["message"] == "The Resource with key 'a/b' was not found."
    assert (
        api.get("/sorted-query-parameters%2F")
        .get_json()["message"]
        .endswith("'sorted-query-parameters/' was not found.")
    )
    assert api.post("/description-with-urn-links%2Fa", json={}).status_code == 400


# Hosts


@pytest.fixture(scope="module")
def hosted(settings: Settings) -> Iterator[Flask]:
    """An application with a base domain."""
    with open_app(settings, base_domain="example.com", pool_size=2) as app:
        yield app


class Lines(logging.Handler):
    """Collects the fields of log lines of requests."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.fields.append(vars(record)["fields"])


@pytest.mark.parametrize(
    ("host", "region", "cloud"),
    [
        ("api.europe-west1.gcp.example.com", "europe-west1", "gcp"),
        ("api.us-east-2.aws.example.com:8443", "us-east-2", "aws"),
        ("API.Eu.X1.Example.COM", "Eu", "X1"),
    ],
)
def test_region_and_cloud_provider_from_the_host_are_logged(
    hosted: Flask, project: str, token_for: TokenFor, host: str, region: str, cloud: str
) -> None:
    lines, logger = Lines(), logging.getLogger("app.request")
    logger.addHandler(lines)
    try:
        answer = Api(hosted, project, token_for(f"view_test:{project}")).get(headers={"Host": host})
    finally:
        logger.removeHandler(lines)
    assert answer.status_code == 200
    [line] = lines.fields
    assert (line["region"], line["cloudProvider"]) == (region, cloud)
    assert json.dumps(line)


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
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]


@pytest.mark.parametrize(
    ("changes", "own", "foreign"),
    [
        ({}, ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "127.9.9.9", "[::1]:8000"], ["10.1.2.3", "localhost.org"]),
        ({"bind": "0.0.0.0"}, ["127.0.0.1:8000", "localhost", "[::1]"], ["0.0.0.0:8000"]),  # noqa: S104 -- compared
        ({"bind": "10.1.2.3"}, ["10.1.2.3:8000", "10.1.2.3"], ["127.0.0.1:8000", "localhost", "10.1.2.4"]),
        (
            {"bind": "10.1.2.3", "public_url": "https://Shop.example.org/v2"},
            ["shop.example.org", "SHOP.example.org:443"],
            ["10.1.2.3:8000", "example.org"],
        ),
        ({"bind": "10.1.2.3", "token_issuer": "https://issuer.example.org"}, ["issuer.example.org"], ["issuer.org"]),
    ],
)
def test_beside_the_base_domain_the_hosts_of_its_own_addresses_are_served(
    settings: Settings, changes: dict[str, Any], own: list[str], foreign: list[str]
) -> None:
    with open_app(settings, base_domain="example.com", pool_size=1, **changes) as app:
        statuses = {
            host: app.test_client().get("/health/live", headers={"Host": host}).status_code for host in own + foreign
        }
    assert statuses == dict.fromkeys(own, 200) | dict.fromkeys(foreign, 400)


def test_without_a_base_domain_every_host_is_accepted(api: Api) -> None:
    for host in ("localhost", "127.0.0.1:8000", "api.europe-west1.gcp.example.com", "[::1]:8000", "a_b"):
        assert api.get(headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("target", ["http://one.example/p/resource", "http://one.example/p/resource?x=%20"])
def test_the_host_of_a_target_in_absolute_form_counts(target: str) -> None:
    """RFC 9112, section 3.2.2: the Host header is ignored then."""
    seen: list[str] = []

    def application(environ: dict[str, str], _start_response: object) -> list[bytes]:
        seen.append(environ["HTTP_HOST"])
        return []

    RawPath(application)({"RAW_URI": target, "PATH_INFO": "/p/resource", "HTTP_HOST": "two.example"}, None)
    RawPath(application)({"RAW_URI": "/p/a://b", "PATH_INFO": "/p/a://b", "HTTP_HOST": "two.example"}, None)
    assert seen == ["one.example", "two.example"]
