"""The gate: a view is reached only with a scope of its mark, and a view without a mark not at all."""

import re
from collections.abc import Iterator

import pytest
from flask import Flask, Response
from flask.views import MethodView

from app.config import Settings
from app.identity.scopes import SCOPE_NAMES, accepted_scopes, public
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.endpoints import endpoints, endpoints_of_a_project, is_public
from tests.support.fixtures import TokenFor

PUBLIC = {
    # 404 but for browsers
    *(f"{method} {path}" for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE") for path in ("/", "/sandbox")),
    *(
        f"{method} {path}"
        for method in ("GET", "HEAD")
        for path in ("/docs", "/docs/<any:asset>", "/docs/specification", "/llms.txt", "/openapi.json")
    ),
    "GET /health/live",
    "GET /health/ready",
    "POST /oauth/introspect",
    "POST /oauth/revoke",
    "POST /oauth/token",
}
"""All endpoints that need no token. Whoever adds one has to add it here too."""


def test_every_view_has_a_mark(app: Flask) -> None:
    unmarked = [name for name, view in endpoints(app).items() if accepted_scopes(view) is None]
    assert unmarked == []


def test_the_public_views_are_these(app: Flask) -> None:
    public = {re.sub(r"<any\(.*\):", "<any:", name) for name, view in endpoints(app).items() if is_public(view)}
    assert public == PUBLIC


def test_no_view_of_a_project_is_public(app: Flask) -> None:
    assert not any(is_public(view) for view in endpoints_of_a_project(app).values())


def test_marks_name_scopes_of_the_interface_only(app: Flask) -> None:
    named = {scope for view in endpoints(app).values() for scope in accepted_scopes(view) or ()}
    assert named <= set(SCOPE_NAMES)


class _Reached(Exception):
    pass


@pytest.fixture
def extended(settings: Settings) -> Iterator[Flask]:
    """An application with views whose marks are missing or in the wrong place."""

    def unmarked(**_: str) -> Response:
        raise _Reached

    class HalfMarked(MethodView):
        @public
        def get(self) -> Response:
            return Response("reached")

        def post(self) -> Response:
            raise _Reached

        def head(self) -> Response:
            raise _Reached

    class MarkedAsAWhole(MethodView):
        def get(self) -> Response:
            raise _Reached

    with open_app(settings) as application:
        application.add_url_rule("/unmarked", view_func=unmarked, methods=["GET", "POST"])
        application.add_url_rule("/<project_key:project_key>/unmarked", view_func=unmarked, endpoint="in_project")
        application.add_url_rule("/half", view_func=HalfMarked.as_view("half"))
        application.add_url_rule("/whole", view_func=public(MarkedAsAWhole.as_view("whole")))
        application.add_url_rule("/only-rule", endpoint="nobody")
        yield application


def test_a_view_without_a_mark_cannot_be_reached(extended: Flask, project: str, token_for: TokenFor) -> None:
    everything = token_for(*(f"{name}:{project}" for name in SCOPE_NAMES), *(f"{name}:" for name in SCOPE_NAMES))
    for method, path in (
        ("GET", "/unmarked"),
        ("HEAD", "/unmarked"),
        ("POST", "/unmarked"),
        ("GET", f"/{project}/unmarked"),
        ("POST", "/half"),
        ("HEAD", "/half"),
        ("GET", "/whole"),
    ):
        for token, status in ((None, 401), (everything, 403)):
            answer = Api(extended, project, token).request(method, f"/{path}")
            assert answer.status_code == status, (method, path)
    assert Api(extended, project, None).request("GET", "//half").text == "reached"
