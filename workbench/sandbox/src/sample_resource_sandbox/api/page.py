"""The page at ``/sandbox``, for a person who debugs a client: one document and the modules that it loads.

They hold no data, so they are public also if the routes need ``SANDBOX_TOKEN``: the page asks for it.
``preact.js`` is the only file that others have written.
"""

from pathlib import Path

from flask import Response

from app.pages import frame

FOLDER = Path(__file__).parent.parent / "page"

_DOCUMENT = "index.html"
_TEXT = (FOLDER / _DOCUMENT).read_text("utf-8")

_ASSETS = frozenset(path.name for path in FOLDER.iterdir()) - {_DOCUMENT}


def document(*, needs_token: bool) -> Response:
    """The document."""
    return frame.page(_TEXT.replace("{needs_token}", str(needs_token).lower()), "/sandbox")


def asset(name: str) -> Response:
    """A file that the document loads.

    :raises NotFound: for any other name.
    """
    return frame.asset(FOLDER, name, _ASSETS)
