"""Cross-origin resource sharing: pages of other origins may use the resource API and get tokens.

Tokens are bearer tokens and no cookies, so a page can do no more than whoever has the token.
"""

import re
from typing import Any

from flask import Flask, Response, request
from flask_cors import CORS

from app.config import Settings

_PATHS = re.compile(r"/[^/]+/resource(/.*)?\Z|/oauth/token\Z", re.DOTALL)
"""Everything of the resource API, its errors too, and the token endpoint; nothing of the sandbox."""

_EXPOSED = ("ETag", "Location", "Retry-After", "X-Correlation-ID")


def install_cors(app: Flask, settings: Settings) -> None:
    """Have answers carry the headers of CORS, and preflight requests answered, for the origins of the settings.

    The extension's hook has to be the first that is installed, so that it sees the answers of all others. It takes
    40 µs, a tenth of a read, so it is called for browsers only, which send ``Origin``.
    """
    origins = settings.allowed_origins
    if origins is None:
        return
    # Patterns, since the extension takes a text with brackets, as those of IPv6 addresses, for a regular expression.
    patterns = [re.compile(re.escape(origin) + r"\Z") for origin in origins]
    CORS(
        app,
        resources=_PATHS,
        origins=patterns or "*",
        send_wildcard=not patterns,
        always_send=False,
        expose_headers=_EXPOSED,
        max_age=600,
        intercept_exceptions=False,  # the hooks after a request run for errors too
    )
    hooks: list[Any] = app.after_request_funcs[None]
    add_headers = hooks.pop()

    def for_browsers(answer: Response) -> Response:
        return add_headers(answer) if "Origin" in request.headers else answer

    app.after_request(for_browsers)
