"""The endpoints of the OpenAPI document, of the documentation pages, and of the page at the root that links to them."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from flask import Flask, Response, current_app, request

from app import errors, openapi
from app.config import Settings
from app.extension import WhenOff, installed_package
from app.http.answers import json_answer
from app.http.arguments import Blueprint, Endpoint
from app.http.paths import path_of_request
from app.identity.scopes import public
from app.pages import frame

blueprint = Blueprint("docs", __name__)


def _swagger_ui() -> Path:
    spec = find_spec("flask_swagger_ui")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("flask_swagger_ui")
    return Path(spec.origin).parent / "dist"


_OWN = frozenset(path.name for path in frame.SITE.iterdir() if path.suffix not in (".html", ".txt"))

_FOLDERS = {
    **dict.fromkeys(_OWN, frame.SITE),
    "specification.json": Path(openapi.__file__).parent,
    "swagger-ui.css": _swagger_ui(),
    "swagger-ui-bundle.js": _swagger_ui(),
}
"""The files that the pages load and link to, each with its folder."""

_ASSETS = frozenset(_FOLDERS)


@cache
def _digest(text: bytes) -> str:
    return sha256(text).hexdigest()[:32]


def _text_of(name: str) -> str:
    return (frame.SITE / name).read_text("utf-8")


_FRONT = _text_of("front.html")
_DOCS = _text_of("docs.html")
_MISSING = _text_of("missing.html")
_LLMS = _text_of("llms.txt")

_GUIDE_CARD = """<li class="card">
<h2><a href="{root}/docs/guide">Guide</a></h2>
<p>How to use, run and change it: all documents, with a search.</p>
</li>
"""


def _filled(text: str, places: Mapping[str, str]) -> str:
    """Replace the placeholders of a text by HTML."""
    for place, value in places.items():
        text = text.replace(f"{{{place}}}", value)
    return text


_NO_GUIDE = _filled(
    _MISSING,
    {
        "title": "Guide",
        "text": "It is not built in this checkout: run <code>make docs</code> in it, and start the service again.",
    },
)

_DECISIONS = (
    ' What the interface leaves open, and how it is decided here: <a href="{root}/docs/guide/docs/'
    'decisions-of-the-interface.html">Decisions of the interface</a>.'
)
"""A sentence for the page of the OpenAPI document. It is shown only if the guide is built."""

_OF_RESOURCES = {
    "name": "Resource API",
    "document": "/openapi.json",
    "note": (
        '<section class="note" aria-label="Note">Authorize, and every example succeeds as it stands, from the top of'
        " the page to its end: the id and the version of the last answer go into the next request."
        f"{_DECISIONS}</section>"
    ),
}
"""The values of the placeholders in the page that shows the OpenAPI document of the resource API."""

_SPECIFICATION = _text_of("specification.html")
"""The page of the specification, made from ``docs/specification.md`` by ``make generate ARGS=specification``."""

_DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The ``Content-Security-Policy`` of the page with Swagger UI, which sets style attributes and draws its icons from
data URLs."""


_ALL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def _raise_unless_for_a_browser() -> None:
    """Refuse the current request unless it is a GET or HEAD whose ``Accept`` names HTML.

    :raises ApiError: the 404 of an unknown URL.
    """
    is_read = request.method in ("GET", "HEAD")
    if not is_read or not any(name == "text/html" and quality for name, quality in request.accept_mimetypes):
        error = errors.unknown_url(path_of_request())
        error.headers["Vary"] = "Accept"
        raise error


# Below a prefix the path may be empty. With strict slashes, clients that do not accept HTML would then get a redirect
# instead of a 404.
@blueprint.route("/", methods=_ALL_METHODS, strict_slashes=False)
@public
def front() -> Response:
    """Answer browsers with a page that leads to all others. To every other client this URL is unknown, as any other."""
    _raise_unless_for_a_browser()
    extension, when_off = frame.extension(), installed_package().when_off
    shown = {"extension": extension.card, "guide": _GUIDE_CARD if frame.guide_is_built() else "", "document": ""}
    if when_off is not None and not extension.card:
        shown["extension"] = f'<li class="card">\n<h2>{when_off.title}</h2>\n<p>{when_off.text}</p>\n</li>\n'
    if extension.document is not None:
        link = f'<a href="{{root}}{extension.document.path}">OpenAPI document</a>'
        shown["document"] = f"<li>{link} of the {extension.document.title}</li>\n"
    answer = frame.page(_filled(_FRONT, shown), "/")
    answer.headers["Vary"] = "Accept"
    return answer


def add_page_when_off(app: Flask, when_off: WhenOff) -> None:
    """Add a page for browsers at the path of an extension's page, which says that the extension is off. Its status is
    404."""

    @public
    def page_when_off() -> Response:
        _raise_unless_for_a_browser()
        answer = frame.page(_filled(_MISSING, {"title": when_off.title, "text": when_off.text}), when_off.path)
        answer.status_code = 404
        answer.headers["Vary"] = "Accept"
        return answer

    app.add_url_rule(when_off.path, view_func=page_when_off, methods=_ALL_METHODS)


@blueprint.route("/openapi.json")
class OpenApi(Endpoint):
    """The document."""

    @public
    def get(self) -> Response:
        """Answer the OpenAPI document; a client that has it already gets 304."""
        text: bytes = current_app.extensions["openapi_text"]
        answer = json_answer(text)
        answer.set_etag(_digest(text))
        answer.headers["Cache-Control"] = "no-cache"
        return cast("Response", answer.make_conditional(request))


@blueprint.route("/docs/openapi.json")
class OpenApiBesideThePage(Endpoint):
    """Where readers of the page look for the document first."""

    @public
    def get(self) -> Response:
        """Lead to the document."""
        return Response(status=308, headers={"Location": f"{request.script_root}/openapi.json"})


@blueprint.route("/docs")
class Docs(Endpoint):
    """The page."""

    @public
    def get(self) -> Response:
        """Answer the documentation page."""
        other = frame.extension().document
        shown, current = _OF_RESOURCES, "/docs"
        if other is not None and request.args.get("document") == other.name:
            shown, current = {"name": other.title, "document": other.path, "note": ""}, frame.document_page(other)
        if not frame.guide_is_built():
            shown = {**shown, "note": shown["note"].replace(_DECISIONS, "")}
        return frame.page(_filled(_DOCS, shown), current, _DOCS_POLICY)


@blueprint.route("/docs/specification")
class Specification(Endpoint):
    """The numbered clauses."""

    @public
    def get(self) -> Response:
        """Answer with the specification as an HTML page."""
        return frame.page(_SPECIFICATION, "/docs/specification")


@blueprint.route("/llms.txt")
class ForLanguageModels(Endpoint):
    """What this is and where its documents are, in the form of llmstxt.org."""

    @public
    def get(self) -> Response:
        """Answer the text."""
        settings: Settings = current_app.extensions["settings"]
        return Response(_filled(_LLMS, {"root": settings.base_url}), mimetype="text/plain")


@blueprint.route("/docs/guide")
@blueprint.route("/docs/guide/")
class GuideRoot(Endpoint):
    """The way into the guide."""

    @public
    def get(self) -> Response:
        """Redirect to the first page, whose links are relative; say so if there is none."""
        if not frame.guide_files(frame.GUIDE):
            return frame.page(_NO_GUIDE, frame.GUIDE_ROOT)
        return Response(status=302, headers={"Location": f"{request.script_root}{frame.GUIDE_ROOT}/index.html"})


@blueprint.route("/docs/guide/<path:name>")
class Guide(Endpoint):
    """The documents of the repository as pages."""

    @public
    def get(self, name: str) -> Response:
        """Answer a page, or what it loads and links to."""
        names = frame.guide_files(frame.GUIDE)
        if not names and name.endswith(".html"):
            return frame.page(_NO_GUIDE, frame.GUIDE_ROOT)
        if name in names and name.endswith(".html"):
            return frame.guide_page(name)
        return frame.asset(frame.GUIDE, name, names)


# No other name, because the path of a project with the key "docs" begins alike: /docs/resource.
@blueprint.route(f"/docs/<any({', '.join(sorted(map(repr, _ASSETS)))}):asset>")
class Assets(Endpoint):
    """What the pages load and link to."""

    @public
    def get(self, asset: str) -> Response:
        """Answer a style sheet, a script, an icon or data."""
        return frame.asset(_FOLDERS.get(asset, frame.SITE), asset, _ASSETS)
