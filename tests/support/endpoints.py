"""All endpoints in the URL map. A test that walks them includes each new endpoint."""

from typing import Any

from flask import Flask

from app.identity.scopes import accepted_scopes


def endpoints(app: Flask) -> dict[str, Any]:
    """The view of every method of every rule, by names such as ``GET /<project_key:project_key>/resource``."""
    found: dict[str, Any] = {}
    for rule in app.url_map.iter_rules():
        function = app.view_functions[rule.endpoint]
        view_class = getattr(function, "view_class", None)
        for method in sorted((rule.methods or set()) - {"OPTIONS"}):
            view = function if view_class is None else getattr(view_class, method.lower(), None)
            if view is None and method == "HEAD":
                continue  # Flask calls get for HEAD, and the gate checks the scopes of get
            found[f"{method} {rule.rule}"] = view
    return found


def endpoints_of_a_project(app: Flask) -> dict[str, Any]:
    """The endpoints whose path contains a project key."""
    return {name: view for name, view in endpoints(app).items() if "project_key" in name}


def is_public(view: Any) -> bool:
    """Whether a view needs no token."""
    return accepted_scopes(view) == ()
