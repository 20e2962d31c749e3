"""The page at ``/sandbox``, for a person who debugs a client: an HTML document and the modules that it loads.

They contain no data, so they are public even if the routes need ``SANDBOX_TOKEN``, which the page asks for.
``preact.js`` is the only third-party file.
"""

from pathlib import Path

from flask import Response
from werkzeug.exceptions import NotFound

from app.pages import frame

FOLDER = Path(__file__).parent.parent / "page"

_DOCUMENT = "index.html"
_TEXT = (FOLDER / _DOCUMENT).read_text("utf-8")

_ASSETS = frozenset(path.name for path in FOLDER.iterdir()) - {_DOCUMENT}


def document(*, needs_token: bool) -> Response:
    """Answer the HTML document."""
    return frame.page(_TEXT.replace("{needs_token}", str(needs_token).lower()), "/sandbox")


def asset(name: str) -> Response:
    """Answer a file that the document loads.

    :raises NotFound: for any other name.
    """
    if name not in _ASSETS:
        raise NotFound
    return frame.asset(FOLDER, name)
