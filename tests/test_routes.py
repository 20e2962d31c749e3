"""Rules for every route, read off the application's own map."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.views import MethodView

from app.auth import accepted_scopes
from tests.api import Api, codes

KNOWN_SCOPES = {"manage_test", "view_test", "view_products", "view_published_products"}


def views(app: Flask) -> Iterator[tuple[str, str, Any]]:
    """Rule, method and function of every view."""
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        view_class: type[MethodView] | None = getattr(view, "view_class", None)
        if view_class is None:
            yield rule.rule, "*", view
            continue
        for method in sorted(view_class.methods or ()):
            yield rule.rule, method, getattr(view_class, method.lower())


def test_every_view_says_which_scopes_it_accepts(app: Flask) -> None:
    found = list(views(app))
    assert len(found) > 12
    for rule, method, view in found:
        accepted = accepted_scopes(view)
        assert accepted is not None, f"{method} {rule} has no scopes"
        assert set(accepted) <= KNOWN_SCOPES
        if "<project_key" in rule:
            assert accepted, f"{method} {rule} is in a project and open to everyone"


def test_a_view_without_scopes_cannot_be_reached(settings: Any, api: Api) -> None:
    from app import create_app

    app = create_app(settings)

    @app.get("/<project_key:project_key>/forgotten")
    def forgotten(project_key: str) -> str:
        return project_key

    answer = Api(app, api.project, api.token).get(f"//{api.project}/forgotten")
    assert answer.status_code == 403
    assert codes(answer) == ["insufficient_scope"]


@pytest.mark.parametrize("path", ["//health/live", "//health/ready", "//openapi.json", "//docs", "//docs/start.js"])
def test_what_needs_no_token_is_answered_without(app: Flask, path: str) -> None:
    assert Api(app, "p", None).get(path).status_code == 200
