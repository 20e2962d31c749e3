"""Cross-origin resource sharing: pages of other origins may use the resource API and get tokens.

Tokens are bearer tokens and no cookies, so a page can do no more than whoever has the token.
"""

import re
from collections.abc import Callable
from typing import Any

from flask import Flask, Request, Response
from flask_cors import CORS

from app.config import Settings
from app.setting_values import ANY_ORIGIN

_PATHS = re.compile(r"/[^/]+/resource(/.*)?\Z|/oauth/token\Z", re.DOTALL)
"""The resource API, with the errors of its endpoints, and the token endpoint; nothing of an extension."""

_EXPOSED = ("ETag", "Location", "Retry-After", "X-Correlation-ID")


Hook = Callable[[Request, Response], Response]


def cors_hooks(app: Flask, settings: Settings) -> tuple[Hook, ...]:
    """What adds the headers of CORS to an answer, as the last of all hooks; none if no page is served.

    The hook of flask-cors takes 40 µs, a tenth of a read, so it is called for browsers only, which send ``Origin``.
    """
    origins = settings.allowed_origins
    if not origins:
        return ()
    any_will_do = origins == (ANY_ORIGIN,)
    # Patterns, because the extension takes a text with brackets, as those of IPv6 addresses, for a regular expression.
    patterns = [re.compile(re.escape(origin) + r"\Z") for origin in origins]
    CORS(
        app,
        resources=_PATHS,
        origins=ANY_ORIGIN if any_will_do else patterns,
        send_wildcard=any_will_do,
        always_send=False,
        expose_headers=_EXPOSED,
        max_age=600,
        intercept_exceptions=False,  # the hooks after a request run for errors too
    )
    installed: list[Any] = app.after_request_funcs[None]
    add_headers = installed.pop()
    return (lambda request, answer: add_headers(answer) if "HTTP_ORIGIN" in request.environ else answer,)
