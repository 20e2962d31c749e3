"""The page at ``/sandbox``, for a person who debugs a client: one document and the modules that it loads.

They are served as they are written, without a build; ``preact.js`` is the one that others have written. They hold no
data, so they are public also if the routes need ``SANDBOX_TOKEN``: the page asks for it.
"""

from pathlib import Path

from flask import Response, current_app, request, send_from_directory
from markupsafe import escape
from werkzeug.exceptions import NotFound

from app.http.answers import html_answer

_FOLDER = Path(__file__).parent / "page" / "sandbox"

_DOCUMENT = "index.html"
_TEXT = (_FOLDER / _DOCUMENT).read_text("utf-8")

_ASSETS = frozenset(path.name for path in _FOLDER.iterdir()) - {_DOCUMENT}

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing from elsewhere, nothing inline, and no text that becomes HTML."""


def page() -> Response:
    """The document."""
    needs_token = current_app.extensions["settings"].sandbox_token is not None
    text = _TEXT.replace("{root}", escape(request.script_root)).replace("{needs_token}", str(needs_token).lower())
    return html_answer(text, PAGE_POLICY)


def asset(name: str) -> Response:
    """A file that the document loads. Browsers ask each time whether it is the same, so an upgrade mixes no versions.

    :raises NotFound: for any other name.
    """
    if name not in _ASSETS:
        raise NotFound
    answer = send_from_directory(_FOLDER, name, max_age=0)
    answer.headers["Cache-Control"] = "no-cache"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer
