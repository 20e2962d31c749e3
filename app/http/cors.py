"""Cross-origin resource sharing: pages of other origins may use the resource API and request tokens.

Browsers do not add bearer tokens by themselves, as they do cookies. So a page can only do what its own token allows.
"""

import re
from collections.abc import Callable

from flask import Flask, Request, Response
from flask_cors.core import get_cors_options, set_cors_headers

from app.config import ANY_ORIGIN, Settings

_PATHS = re.compile(r"/[^/]+/resource(/.*)?\Z|/oauth/token\Z", re.DOTALL)
"""The paths of the resource API and of the token endpoint. Extensions have no paths among them. A decoded path may have
line feeds, hence DOTALL and ``\\Z``."""

_EXPOSED = ("Content-Location", "ETag", "Location", "Retry-After", "X-Correlation-ID")


def cors_hooks(app: Flask, settings: Settings) -> tuple[Callable[[Request, Response], Response], ...]:
    """A tuple of one hook, which adds the headers of CORS to an answer; an empty tuple if no origin is allowed. The
    hook is the last one after the view.

    Only answers to requests with ``Origin`` need the headers. Browsers send ``Origin`` if the page of the script that
    makes the request has another origin than the service.
    """
    origins = settings.allowed_origins
    if not origins:
        return ()
    any_will_do = origins == (ANY_ORIGIN,)
    # Patterns, because flask-cors takes a text with brackets, such as an IPv6 address, for a regular expression.
    patterns = [re.compile(re.escape(origin) + r"\Z") for origin in origins]
    options = get_cors_options(
        app,
        {
            "origins": ANY_ORIGIN if any_will_do else patterns,
            "send_wildcard": any_will_do,
            "always_send": False,  # only if the request has Origin
            "expose_headers": _EXPOSED,
            "max_age": 600,
            "vary_header": False,  # add_headers sets it
        },
    )

    def add_headers(request: Request, answer: Response) -> Response:
        """Add the headers of CORS to an answer, if the request has an allowed ``Origin``, and a path that ``_PATHS``
        matches.

        If only some origins are allowed, the headers depend on the value of ``Origin``. Then every answer at these
        paths gets ``Vary: Origin``, even if the request has no ``Origin``. Otherwise a cache could give a page of one
        origin the answer that was made for another origin, or for a request without ``Origin``.
        """
        if _PATHS.match(request.path) is None:
            return answer
        if not any_will_do:
            answer.vary.add("Origin")
        return set_cors_headers(answer, options)

    return (add_headers,)
