"""Every endpoint with every scope, as a table of statuses; a scope for another project is always 403."""

import pytest
from flask import Flask

from app.identity.token_profile import SCOPE_NAMES
from tests.conftest import TokenFor
from tests.support.api import Api, codes
from tests.support.endpoints import endpoints_of_a_project

R = "/<project_key:project_key>/resource"
COMPLEX = "/artificially-complex/path/uri-parameter-one=<segment:uri_parameter_one>/<filled_segment:uri_parameter_two>"

# section, endpoint: the status with manage_test, view_test, view_products, view_published_products alone
MATRIX = {
    ("4.1", f"GET {R}"): (200, 200, 403, 403),
    ("4.2", f"GET {R}/<resource_id:resource_id>"): (200, 200, 403, 403),
    ("4.3", f"GET {R}/key=<segment:key>"): (200, 200, 403, 403),
    ("4.4", f"GET {R}/searchApiPattern"): (200, 200, 403, 403),
    ("4.5", f"HEAD {R}"): (200, 200, 403, 403),
    ("4.6", f"POST {R}"): (200, 403, 403, 403),
    ("4.7", f"PATCH {R}"): (200, 403, 403, 403),
    ("4.8", f"PUT {R}"): (200, 403, 403, 403),
    ("4.9", f"POST {R}{COMPLEX}"): (200, 200, 403, 403),
    ("4.10", f"POST {R}/<resource_id:resource_id>"): (200, 403, 403, 403),
    ("4.11", f"DELETE {R}/<resource_id:resource_id>"): (200, 403, 403, 403),
    ("4.12", f"GET {R}/sorted-query-parameters"): (200, 200, 403, 403),
    ("4.13", f"POST {R}/description-with-urn-links"): (200, 200, 403, 403),
    ("4.14", f"POST {R}/product-projection-search"): (403, 403, 200, 200),
}

BODIES: dict[str, object] = {
    "4.6": {"objectTypeProperty": {}, "key": "the-key"},
    "4.7": {"objectTypeProperty": {}, "key": "the-key", "version": 1},
    "4.8": {"objectTypeProperty": {}, "key": "the-key"},
    "4.9": {},
    "4.10": {"version": 1, "actions": []},
    "4.13": {},
}


def test_the_table_has_every_endpoint(app: Flask) -> None:
    assert {endpoint for _, endpoint in MATRIX} == set(endpoints_of_a_project(app))


def fill(endpoint: str, project: str, resource_id: str) -> tuple[str, str]:
    method, _, rule = endpoint.partition(" ")
    values = {
        "<project_key:project_key>": project,
        "<resource_id:resource_id>": resource_id,
        "<segment:key>": "the-key",
        "<segment:uri_parameter_one>": "one",
        "<filled_segment:uri_parameter_two>": "two",
    }
    for name, value in values.items():
        rule = rule.replace(name, value)
    assert "<" not in rule
    return method, f"/{rule}"


@pytest.mark.parametrize("scope", SCOPE_NAMES)
@pytest.mark.parametrize(("section", "endpoint"), MATRIX)
def test_an_endpoint_answers_as_the_table_says(
    api: Api, project: str, token_for: TokenFor, section: str, endpoint: str, scope: str
) -> None:
    resource = api.create({}, key="the-key")
    method, path = fill(endpoint, project, resource["id"])
    body = {"json": BODIES[section]} if section in BODIES else {}
    expected = MATRIX[section, endpoint][SCOPE_NAMES.index(scope)]

    answer = Api(api.app, project, token_for(f"{scope}:{project}")).request(method, path, **body)
    assert answer.status_code == expected, answer.text
    if expected == 403 and method != "HEAD":
        assert codes(answer) == ["insufficient_scope"]
        accepted = [name for name, status in zip(SCOPE_NAMES, MATRIX[section, endpoint], strict=True) if status != 403]
        message = f"Insufficient scope. One of the following scopes is missing: {', '.join(accepted)}."
        assert answer.get_json()["message"] == answer.get_json()["error_description"] == message
        assert answer.headers["WWW-Authenticate"] == (
            f'Bearer realm="{project}", error="insufficient_scope", '
            f'scope="{" ".join(f"{name}:{project}" for name in accepted)}"'
        )

    elsewhere = Api(api.app, project, token_for(f"{scope}:another-project")).request(method, path, **body)
    assert elsewhere.status_code == 403


@pytest.mark.parametrize(("section", "endpoint"), MATRIX)
def test_without_a_token_every_endpoint_is_401(api: Api, project: str, section: str, endpoint: str) -> None:
    method, path = fill(endpoint, project, "an-id")
    answer = Api(api.app, project, None).request(method, path)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == f'Bearer realm="{project}"'


@pytest.mark.parametrize("scope", ["view_products", "view_published_products"])
def test_either_scope_of_products_opens_either_projection(
    api: Api, project: str, token_for: TokenFor, scope: str
) -> None:
    viewer = Api(api.app, project, token_for(f"{scope}:{project}"))
    for staged in ("true", "True", "false"):
        for asked in ({"query_string": {"staged": staged}}, {"data": {"staged": staged}}):
            assert viewer.post("/product-projection-search", **asked).status_code == 200
