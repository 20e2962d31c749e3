"""Decodes paths and checks their prefixes before routing, and converts path segments to texts.

The fixed words of the interface's paths are also here, because the ``{id}`` segment must not match any of them.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from flask import request
from werkzeug.routing import BaseConverter

from app import errors
from app.values import strict_json
from app.values.patterns import PROJECT_KEY_PATTERN

SEARCH = "searchApiPattern"
SORTED_LIST = "sorted-query-parameters"
DESCRIPTION = "description-with-urn-links"
PROJECTION_SEARCH = "product-projection-search"

FIXED_WORDS = (SEARCH, SORTED_LIST, DESCRIPTION, PROJECTION_SEARCH)
"""Path segments that name an endpoint in the position of an ``{id}`` (interface 4)."""


class RawPath:
    """WSGI middleware that keeps ``%2F`` inside its path segment, and keeps bytes that are no UTF-8.

    A WSGI server decodes the whole path, so that an encoded slash looks like a separator, and werkzeug's server
    replaces bytes that are no UTF-8. gunicorn and werkzeug also pass on the undecoded request target. From it this
    class decodes the path again, but leaves ``%2F`` encoded, and also ``%25``: else a decoded ``%252F`` would look like
    a ``%2F``. The path converters decode these two. If a path begins with two slashes, the second becomes ``%2F``, so
    that no route matches the path. If the target is a whole URL, its host replaces the Host header. The header Upgrade
    is ignored (RFC 9110, section 7.8).
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        # For a request to open a WebSocket, werkzeug would look only for routes of WebSockets, and refuse the request
        # for lack of one.
        environ.pop("HTTP_UPGRADE", None)
        target: str = environ.get("RAW_URI") or environ.get("REQUEST_URI") or ""
        if _ABSOLUTE_FORM.match(target) and "HTTP_HOST" in environ:
            # The authority of a target in absolute form replaces the Host header, but is not added if the header is
            # missing: HTTP/1.1 demands the header even with such a target (RFC 9112, section 3.2), so app.http.hosts
            # refuses the request.
            environ["HTTP_HOST"] = urlsplit(target).netloc
        if "%" in target:  # else nothing is encoded, and PATH_INFO as the server has made it is right
            # urlsplit would take the beginning of //demo/resource for a host.
            path = re.split("[?#]", target, maxsplit=1)[0] if target.startswith("/") else urlsplit(target).path
            # A percent sign that encodes nothing stands for itself: %zz counts as %25zz.
            path = re.sub("%(?![0-9A-Fa-f]{2})", "%25", path)
            # Encode %2F and %25 once more, as %252F and %2525: the decoding then leaves %2F and %25. WSGI passes bytes
            # as latin-1.
            decoded = unquote_to_bytes(_SLASH_OR_PERCENT.sub(r"%25\1", path).encode("latin-1")).decode("latin-1")
            # Unlike PATH_INFO, the target begins with the prefix under which a server may mount the application.
            environ["PATH_INFO"] = decoded.removeprefix(environ.get("SCRIPT_NAME", ""))
        if environ["PATH_INFO"].startswith("//"):
            # werkzeug would strip the slashes, and serve //demo/resource as /demo/resource. With %2F in place of the
            # second slash no route matches, so the answer is 404. Its message shows the path with all slashes. For this
            # message, path_of_request reads the path that is kept here.
            environ[_REPLACED_PATH] = environ["PATH_INFO"]
            environ["PATH_INFO"] = "/%2F" + environ["PATH_INFO"][2:]
        return self._application(environ, start_response)


_ABSOLUTE_FORM = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")

_SLASH_OR_PERCENT = re.compile("%(25|2[Ff])")
"""The encoded characters that are decoded by the path converters, and not before routing."""

_REPLACED_PATH = "app.replaced_path"
"""The key in the WSGI environment of a path with several slashes at its beginning, decoded and without the prefix."""


def path_of_request() -> str:
    """The decoded path of the current request, for messages. If the path began with several slashes, the result has
    all of them, although :class:`RawPath` has replaced the second one by ``%2F`` for the routing.

    Two parts of the path are not decoded:

    - ``%2F`` stays encoded, because ``/`` would look like a separator.
    - ``%25`` before two hex digits stays encoded. ``%2541`` encodes the text ``%41``, but a reader of ``%41`` in a
      message would decode it to ``A``. Any other ``%25`` becomes ``%``.
    """
    # If RawPath has replaced a slash, the WSGI environment has the path with all slashes under _REPLACED_PATH. Each
    # character of this path stands for one byte (latin-1), so the bytes are decoded as UTF-8 here. If RawPath has
    # replaced no slash, the path is request.path, which werkzeug has decoded.
    path: str = request.environ.get(_REPLACED_PATH, "").encode("latin-1").decode(errors="replace") or request.path
    return re.sub("%25(?![0-9A-Fa-f]{2})", "%", path)  # RawPath has left %25 encoded


class PathPrefix:
    """WSGI middleware that accepts a proxy's ``X-Forwarded-Prefix`` only if its segments consist of letters, digits,
    ``.``, ``_``, ``~`` and ``-``, and none is ``.`` or ``..``. It ignores any other.

    It runs after werkzeug's ``ProxyFix``, which accepts any text. The prefix becomes part of ``Location`` and of links,
    where ``//host`` would lead to another host.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        if _PATH_PREFIX.fullmatch(environ["SCRIPT_NAME"]) is None:
            environ["SCRIPT_NAME"] = environ["werkzeug.proxy_fix.orig"]["SCRIPT_NAME"]
        return self._application(environ, start_response)


_PATH_PREFIX = re.compile(r"(?:/(?!\.\.?(?:/|$))[A-Za-z0-9._~-]+)*/?", re.ASCII)


class Segment(BaseConverter):
    """The converter of a path segment with any text, even an empty one."""

    regex = "[^/]*"

    def to_python(self, value: str) -> str:
        """Decode what :class:`RawPath` has left encoded: ``%2F`` and ``%25``."""
        return _SLASH_OR_PERCENT.sub(lambda match: "%" if match.group() == "%25" else "/", value)


class FilledSegment(Segment):
    """The converter of a path segment with any text that is not empty."""

    regex = "[^/]+"


class ResourceId(Segment):
    """The converter of the ``{id}`` segment: any text except the empty one, ``key=...`` and the fixed words.

    Without these exceptions, a request to a fixed word with an unsupported method would reach the resource with this
    id, instead of being refused.
    """

    regex = f"(?!key=|(?:{'|'.join(FIXED_WORDS)})(?:/|\\Z))[^/]+"


class ProjectKey(BaseConverter):
    """The converter of the first path segment of the interface, the project's key."""

    regex = PROJECT_KEY_PATTERN


CONVERTERS: Mapping[str, type[BaseConverter]] = {
    "project_key": ProjectKey,
    "resource_id": ResourceId,
    "segment": Segment,
    "filled_segment": FilledSegment,
}
"""The converters by the names that URL rules give them."""


def raise_if_path_is_not_text() -> None:
    """Refuse a request whose path is not UTF-8. Only a view that echoes segments of the path needs this. Elsewhere such
    a path is a 404: werkzeug replaces bytes that are not UTF-8 by U+FFFD, which no id and no key has.

    :raises ApiError: 400.
    """
    path: str = request.environ["PATH_INFO"]
    if not path.isascii() and not strict_json.is_utf8(path.encode("latin-1")):
        raise errors.invalid_input("Malformed path: it is not UTF-8.")
