"""All endpoints of a project, as the URL map has them: tests that walk them notice a new one."""

from typing import Any

from flask import Flask

from app.identity.scopes import accepted_scopes

HEAD_IS_GET = "HEAD is answered by get"


def endpoints(app: Flask) -> dict[str, Any]:
    """Every method of every rule, as ``"GET /<project_key:project_key>/resource"``, and the function that answers."""
    found: dict[str, Any] = {}
    for rule in app.url_map.iter_rules():
        function = app.view_functions[rule.endpoint]
        view_class = getattr(function, "view_class", None)
        for method in sorted((rule.methods or set()) - {"OPTIONS"}):
            view = function if view_class is None else getattr(view_class, method.lower(), None)
            if view is None and method == "HEAD":
                continue  # answered by get, and guarded as that
            found[f"{method} {rule.rule}"] = view
    return found


def endpoints_of_a_project(app: Flask) -> dict[str, Any]:
    """Those that act on a project."""
    return {name: view for name, view in endpoints(app).items() if "project_key" in name}


def is_public(view: Any) -> bool:
    return accepted_scopes(view) == ()
