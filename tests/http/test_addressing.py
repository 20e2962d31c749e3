"""Which URL means what: project keys, fixed words, key=, unknown URLs, methods, and the parts of the host."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app import create_app
from app.config import Settings
from tests.conftest import TokenFor
from tests.support.api import Api, codes

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
UNKNOWN = "01890000-0000-7000-8000-000000000000"


def allowed(answer: TestResponse) -> set[str]:
    """The methods that a refusal lists, but for OPTIONS."""
    return {method.strip() for method in answer.headers["Allow"].split(",")} - {"OPTIONS"}


# Project keys


@pytest.mark.parametrize("key", ["a", "_", "-", "0", "Project_Key-1", "resource", "health-1", 64 * "x"])
def test_a_project_needs_no_registration(app: Flask, token_for: TokenFor, key: str) -> None:
    answer = Api(app, key, token_for(f"view_test:{key}")).get("?limit=0")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "key", [65 * "x", "a.b", "a b", "a%20b", "ä", "%C3%A4", "a%2Fb", "a%00", "a%0A", "a:b", "a%25b", ""]
)
@pytest.mark.parametrize("method", sorted(METHODS))
def test_what_is_no_project_key_is_an_unknown_url(app: Flask, token_for: TokenFor, key: str, method: str) -> None:
    api = Api(app, "p", token_for("manage_test:p"))
    assert api.request(method, f"//{key}/resource").status_code == 404


def test_project_keys_differ_by_letter_case(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create()
    upper = api.project.upper()
    assert api.get(f"//{upper}/resource").status_code == 403
    other = Api(app, upper, token_for(f"manage_test:{upper}"))
    assert other.get(f"/{created['id']}").status_code == 404


def test_a_token_for_one_project_opens_no_other(app: Flask, api: Api, token_for: TokenFor) -> None:
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


def test_projects_have_keys_of_their_own(app: Flask, api: Api, token_for: TokenFor) -> None:
    mine = api.create(key="a-key")
    other = Api(app, f"{api.project}-2", token_for(f"manage_test:{api.project}-2"))
    theirs = other.create(key="a-key")
    assert api.get("/key=a-key").get_json() == mine
    assert other.get("/key=a-key").get_json() == theirs


# Unknown URLs


@pytest.mark.parametrize(
    "path",
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
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_url_is_told_in_json_to_strangers_too(app: Flask, api: Api, path: str, method: str) -> None:
    target = path.format(project=api.project, unknown=UNKNOWN)
    for sender in (api, Api(app, api.project, None)):
        answer = sender.request(method, target)
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]
        assert "Location" not in answer.headers


def test_every_answer_carries_a_correlation_id(api: Api) -> None:
    for path in ("", "/nothing", "//unknown"):
        sent = api.get(path, headers={"X-Correlation-ID": "project/request_1-a"})
        assert sent.headers["X-Correlation-ID"] == "project/request_1-a"
        for bad in ("short", 257 * "x", "with blank", "ü" * 10):
            made = api.get(path, headers={"X-Correlation-ID": bad}).headers["X-Correlation-ID"]
            assert made != bad
            assert len(made) >= 8


# Words that win over ids


SERVED = {
    "": {"GET", "HEAD", "POST", "PUT", "PATCH"},
    f"/{UNKNOWN}": {"GET", "HEAD", "POST", "DELETE"},
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
"""Paths below the project's resource, and their methods."""


@pytest.mark.parametrize(
    ("path", "method"),
    [(path, method) for path, served in SERVED.items() for method in sorted(METHODS - served)],
)
def test_other_methods_are_not_allowed_to_anyone(app: Flask, api: Api, path: str, method: str) -> None:
    for sender in (api, Api(app, api.project, None)):
        answer = sender.request(method, path, json={"objectTypeProperty": {}})
        assert answer.status_code == 405
        assert allowed(answer) == SERVED[path]
        if method != "HEAD":
            assert len(codes(answer)) == 1


@pytest.mark.parametrize("method", ["TRACE", "PROPFIND", "QUERY"])
def test_unheard_of_methods_are_not_allowed(api: Api, method: str) -> None:
    for path in ("", f"/{UNKNOWN}", "/key=a-key"):
        answer = api.request(method, path)
        assert answer.status_code == 405
        assert allowed(answer) == SERVED[path]


def test_words_that_only_resemble_the_fixed_ones_are_ids(api: Api) -> None:
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


def test_encoded_slashes_stay_in_their_segment(api: Api) -> None:
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
    """The application below a base domain."""
    application = create_app(replace(settings, base_domain="example.com", pool_size=2))
    yield application
    application.extensions["database"].close()


class Lines(logging.Handler):
    """Keeps the fields of request lines."""

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
def test_region_and_cloud_provider_are_read_from_the_host(
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
        "localhost",
        "127.0.0.1:8000",
    ],
)
def test_other_hosts_are_refused(hosted: Flask, project: str, token_for: TokenFor, host: str) -> None:
    answer = Api(hosted, project, token_for(f"view_test:{project}")).get(headers={"Host": host})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]


def test_without_a_base_domain_every_host_is_served(api: Api) -> None:
    for host in ("localhost", "127.0.0.1:8000", "api.europe-west1.gcp.example.com", "[::1]:8000", "a_b"):
        assert api.get(headers={"Host": host}).status_code == 200
