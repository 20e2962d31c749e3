"""The contract as a document and as pages, all served from here alone: no asset comes from another host."""

import json
from importlib.util import find_spec
from pathlib import Path

from flask import Response, current_app, request, send_from_directory
from markupsafe import escape
from werkzeug.exceptions import NotFound

from app import openapi
from app.http.answers import html_answer, json_answer
from app.http.arguments import Blueprint, Endpoint
from app.identity.scopes import public

blueprint = Blueprint("docs", __name__)


def _swagger_ui() -> Path:
    spec = find_spec("flask_swagger_ui")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("flask_swagger_ui")
    return Path(spec.origin).parent / "dist"


_OWN = Path(__file__).parent / "page"

_FOLDERS = {
    "page.css": _OWN,
    "page.js": _OWN,
    "specification.css": _OWN,
    "specification.json": Path(openapi.__file__).parent,
    "swagger-ui.css": _swagger_ui(),
    "swagger-ui-bundle.js": _swagger_ui(),
    "favicon-32x32.png": _swagger_ui(),
}
"""What the pages load and link to, and where each file lies."""

_PAGE = (_OWN / "index.html").read_text()

_SPECIFICATION = (_OWN / "specification.html").read_text("utf-8")
"""Made from ``docs/specification.md`` by ``make specification``."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Swagger UI sets style attributes and draws its icons from data URLs; nothing else of it needs leave."""

_POLICY_WITHOUT_SCRIPT = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@blueprint.route("/openapi.json")
class OpenApi(Endpoint):
    """The document."""

    @public
    def get(self) -> Response:
        """Answer the OpenAPI document."""
        return json_answer(json.dumps(current_app.extensions["openapi"]))


@blueprint.route("/docs")
class Docs(Endpoint):
    """The page."""

    @public
    def get(self) -> Response:
        """Answer the documentation page."""
        root = escape(request.script_root)
        other = f' <a href="{root}/docs?document=sandbox">Sandbox</a>' if "sandbox" in current_app.extensions else ""
        return html_answer(_PAGE.replace("{root}", root).replace("{other}", other), _POLICY)


@blueprint.route("/docs/specification")
class Specification(Endpoint):
    """The numbered clauses."""

    @public
    def get(self) -> Response:
        """Answer the specification as a page."""
        return html_answer(_SPECIFICATION.replace("{root}", escape(request.script_root)), _POLICY_WITHOUT_SCRIPT)


@blueprint.route("/docs/<segment:asset>")
class Assets(Endpoint):
    """What the pages load and link to."""

    @public
    def get(self, asset: str) -> Response:
        """Answer a style sheet, a script, an icon or data."""
        if asset not in _FOLDERS:
            raise NotFound
        return send_from_directory(_FOLDERS[asset], asset, max_age=3600)
