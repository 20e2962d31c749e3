"""The endpoints of the OpenAPI document, of the documentation pages with their files, of ``llms.txt``, and of the page
at the root that links to them."""

from collections.abc import Mapping
from pathlib import Path

import flask_swagger_ui
from flask import Response, current_app, request
from flask.blueprints import BlueprintSetupState

from app import errors, openapi
from app.extension import installed_package
from app.http.answers import accepted_types, json_answer
from app.http.arguments import Blueprint
from app.http.paths import path_of_request
from app.identity.scopes import public
from app.pages import frame

blueprint = Blueprint("docs", __name__)


_SWAGGER_UI = Path(flask_swagger_ui.__file__).parent / "dist"

_FOLDERS = {
    **{path.name: frame.SITE for path in frame.SITE.iterdir() if path.suffix in (".css", ".js", ".svg")},
    "specification.json": Path(openapi.__file__).parent,
    "swagger-ui.css": _SWAGGER_UI,
    "swagger-ui-bundle.js": _SWAGGER_UI,
}
"""The files that the pages load and link to, each with its folder."""


def _text_of(name: str) -> str:
    """The text of a file of the pages."""
    return (frame.SITE / name).read_text("utf-8")


_FRONT = _text_of("front.html")
_DOCS = _text_of("docs.html")
_LLMS = _text_of("llms.txt")


def _filled(text: str, places: Mapping[str, str]) -> str:
    """Replace the placeholders of a text, such as ``{document}``, by their values."""
    for place, value in places.items():
        text = text.replace(f"{{{place}}}", value)
    return text


_OF_RESOURCES = {"name": "Resource API", "document": "/openapi.json", "note": _text_of("docs-note.html")}
"""The values of the placeholders in the page that shows the OpenAPI document of the resource API."""

_SPECIFICATION = _text_of("specification.html")
"""The page of the specification, made from ``docs/specification.md`` by ``make generate ARGS=specification``."""

_DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The ``Content-Security-Policy`` of the page with Swagger UI, which draws its icons from data URLs."""


_FRONT_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


# The rule has all usual methods, so that for example POST gets 404 and not 405. Strict slashes are off, because below a
# proxy's prefix the path may be empty, and Flask would answer it with a redirect.
@blueprint.route("/", methods=_FRONT_METHODS, strict_slashes=False)
@public
def front() -> Response:
    """Answer a GET or HEAD by a browser, which names HTML in ``Accept``, with the page that links to all others. Other
    requests get 404."""
    accepts_html = any(name == "text/html" and quality for name, quality in accepted_types(request))
    if request.method not in ("GET", "HEAD") or not accepts_html:
        error = errors.unknown_url(path_of_request())
        error.headers["Vary"] = "Accept"
        raise error
    extension = frame.extension()
    # While the extension is off, ``extension`` is an empty Extension without a card. Then the page shows the card that
    # the installed package has for this case.
    shown = {"extension": extension.card or installed_package().card_when_off, "document": ""}
    if extension.document is not None:
        # frame.page replaces {root} by the prefix of paths, here and in the card.
        link = f'<a href="{{root}}{extension.document.path}">OpenAPI document</a>'
        shown["document"] = f"<li>{link} of the {extension.document.title}</li>\n"
    answer = frame.page(_filled(_FRONT, shown), request.path or "/")
    answer.headers["Vary"] = "Accept"
    return answer


@public
def front_when_off() -> Response:
    """While the extension is off, answer requests to the path of its page, always with status 404. A browser's GET or
    HEAD gets the page of :func:`front`, whose card then says how to switch the extension on.

    :func:`_add_page_when_off` adds the route. The path is ``page_when_off`` of the extension's package.
    """
    answer = front()  # raises the 404 itself, unless a browser sends GET or HEAD
    answer.status_code = 404
    return answer


@blueprint.record
def _add_page_when_off(state: BlueprintSetupState) -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
    """If the installed extension is switched off, make :func:`front_when_off` answer requests for the extension's page.
    Flask calls this function when it registers the blueprint."""
    # While the extension is off, the application has an empty Extension, whose ``page`` is None. While the extension is
    # on, it has a ``page`` if its package has a ``page_when_off`` (app.extension demands this). So a package with a
    # ``page_when_off`` and an application without a ``page`` mean: the extension is off.
    has_no_page = state.app.extensions["extension"].page is None
    path = installed_package().page_when_off
    if has_no_page and path:
        state.app.add_url_rule(path, "docs.front_when_off", front_when_off, methods=_FRONT_METHODS)


@blueprint.route("/openapi.json")
@public
def open_api() -> Response:
    """Answer with the OpenAPI document; a client that has it already gets 304."""
    answer = json_answer(current_app.extensions["openapi_text"])
    answer.add_etag()
    answer.headers["Cache-Control"] = "no-cache"
    answer.make_conditional(request)
    return answer


@blueprint.route("/docs")
@public
def docs() -> Response:
    """Answer with the documentation page, which shows one OpenAPI document.

    If the extension has an OpenAPI document and the query parameter ``document`` has its name, the page shows the
    document of the extension. Without this parameter, or with any other name, the page shows the document of the
    resource API.
    """
    other = frame.extension().document
    shown, current = _OF_RESOURCES, "/docs"
    if other is not None and request.args.get("document") == other.name:
        shown, current = {"name": other.title, "document": other.path, "note": ""}, frame.document_page(other)
    return frame.page(_filled(_DOCS, shown), current, _DOCS_POLICY)


@blueprint.route("/docs/specification")
@public
def specification() -> Response:
    """Answer with the specification, the numbered clauses, as an HTML page."""
    return frame.page(_SPECIFICATION, "/docs/specification")


@blueprint.route("/llms.txt")
@public
def for_language_models() -> Response:
    """Answer with what this is and where its documents are, in the form of llmstxt.org."""
    return Response(_filled(_LLMS, {"root": current_app.extensions["settings"].base_url}), mimetype="text/plain")


# The rule lists the names: /docs/<any text> would also match /docs/resource, which belongs to a project with the key
# "docs". werkzeug needs quotes around names with a dot or a hyphen.
@blueprint.route(f"/docs/<any({', '.join(sorted(map(repr, _FOLDERS)))}):asset>")
@public
def file_of_a_page(asset: str) -> Response:
    """Answer with a style sheet, a script, an icon or data that the pages load or link to."""
    return frame.asset(_FOLDERS[asset], asset)
