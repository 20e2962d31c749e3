"""The page at ``/sandbox``, for a person who debugs a client: one document and the modules that it loads.

They hold no data, so they are public also if the routes need ``SANDBOX_TOKEN``: the page asks for it.
"""

from flask import Response, current_app

from app.pages import frame

_DOCUMENT = "index.html"
_TEXT = (frame.SANDBOX / _DOCUMENT).read_text("utf-8")

_ASSETS = frozenset(path.name for path in frame.SANDBOX.iterdir()) - {_DOCUMENT}


def page() -> Response:
    """The document."""
    needs_token = current_app.extensions["settings"].sandbox_token is not None
    return frame.page(_TEXT.replace("{needs_token}", str(needs_token).lower()), "/sandbox")


def asset(name: str) -> Response:
    """A file that the document loads.

    :raises NotFound: for any other name.
    """
    return frame.asset(frame.SANDBOX, name, _ASSETS)
