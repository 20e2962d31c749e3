"""Cross-origin resource sharing: what a page of another origin may send, and see of an answer."""

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.config import Settings
from tests.support.api import Api
from tests.support.applications import open_app

ORIGIN = {"Origin": "https://shop.example"}


def allowed(answer: TestResponse) -> str | None:
    return answer.headers.get("Access-Control-Allow-Origin")


def test_each_answer_of_the_resource_api_may_be_read(app: Flask, api: Api) -> None:
    created = api.create()
    client = app.test_client()
    mine = {**ORIGIN, "Authorization": f"Bearer {api.token}"}
    path = f"/{api.project}/resource"
    answers = {
        200: client.get(f"{path}/{created['id']}", headers=mine),
        201: client.post(path, json={"objectTypeProperty": {}}, headers=mine),
        304: client.get(f"{path}/{created['id']}", headers={**mine, "If-None-Match": '"1"'}),
        400: client.get(f"{path}?limit=x", headers=mine),
        401: client.get(path, headers=ORIGIN),
        403: client.get("/another/resource", headers=mine),
        404: client.get(f"{path}/key=none", headers=mine),
        405: client.delete(path, headers=mine),
    }
    for status, answer in answers.items():
        assert answer.status_code == status
        assert allowed(answer) == "*", status
        exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
        assert exposed == ["Content-Location", "ETag", "Location", "Retry-After", "X-Correlation-ID"]
        assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/openapi.json", "/health/ready", "/oauth/revoke", "/oauth/introspect", "/p/other"]
)
def test_other_routes_have_no_such_headers(app: Flask, path: str) -> None:
    assert allowed(app.test_client().get(path, headers=ORIGIN)) is None


def narrowed(settings: Settings, api: Api, origins: str, origin: str) -> TestResponse:
    allowed_origins = Settings.from_environment({"CORS_ORIGINS": origins}).allowed_origins
    with open_app(settings, allowed_origins=allowed_origins) as app:
        headers = {"Origin": origin, "Authorization": f"Bearer {api.token}"}
        return app.test_client().get(f"/{api.project}/resource", headers=headers)


@pytest.mark.parametrize(
    ("origins", "origin", "is_allowed"),
    [
        ("https://shop.example", "https://shop.example", True),
        ("https://shop.example", "https://shop.example.evil.example", False),
        ("https://shop.example", "http://shop.example", False),
        ("https://shop.example", "https://shopxexample", False),
        ("https://shop.example, http://[::1]:3000", "http://[::1]:3000", True),
        ("none", "https://shop.example", False),
    ],
)
def test_cors_origins_narrows_or_ends_it(
    settings: Settings, api: Api, origins: str, origin: str, is_allowed: bool
) -> None:
    answer = narrowed(settings, api, origins, origin)
    assert (answer.status_code, allowed(answer)) == (200, origin if is_allowed else None)
    assert answer.headers.getlist("Vary") == (["Origin"] if origins != "none" else [])


def test_answers_to_no_origin_vary_by_origin_if_only_some_are_allowed(settings: Settings, api: Api) -> None:
    with open_app(settings, allowed_origins=("https://shop.example",)) as app:
        answer = Api(app, api.project, api.token).get()
    assert answer.headers["Vary"] == "Origin"
    assert "Vary" not in api.get().headers
