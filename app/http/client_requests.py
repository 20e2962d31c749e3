"""Reads the requests of API clients to the OAuth endpoints: their parameters and credentials.

A client authenticates with HTTP Basic or with form fields, not with both (RFC 6749, section 2.3). Parameters are form
fields. ``grant_type``, ``scope`` and ``token_type_hint`` may be in the query string instead, as the platform allows. A
parameter in both places is refused as given twice (RFC 6749, section 3.2). Secrets and tokens are refused in the query
string, because URLs end up in logs (RFC 6749, section 2.3.1). Unknown parameters are ignored, and empty parameters
count as absent (RFC 6749, section 3.2), except that a known one, even if empty, may not be repeated in one place.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus

from flask import Request

from app import errors
from app.http.bodies import FIELDS_AT_MOST, FORM, read_body

_PARAMETERS = ("grant_type", "scope", "token", "token_type_hint", "client_id", "client_secret")
_NOT_IN_A_URL = ("token", "client_id", "client_secret")
"""The parameters that are refused in the query string, because logs and histories keep URLs, and RFC 6749, section
2.3.1, forbids credentials there."""

_CLIENT_ID = re.compile("[A-Za-z0-9_-]{1,32}")
"""The form of a client's id. It is shorter than any secret, so that a secret sent as the id is refused before it is
logged."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The id and the secret that a client sends."""

    client_id: str
    secret: str


def read_parameters(request: Request) -> dict[str, str]:
    """Return the known, non-empty parameters in the query string and the form of an OAuth request.

    Unlike :func:`~app.http.bodies.read_form`, this function accepts a form without a Content-Type, and ignores the
    charset of the Content-Type.

    :raises ApiError: 400, 413, 415 or 431 as :func:`~app.http.bodies.read_body`; 400 ``invalid_request`` in these
        cases:

        - The query string has a token, a client id or a secret.
        - The body has another Content-Type than that of a form.
        - A known parameter occurs twice in the query string, or twice in the form, even if it is empty.
        - A known parameter has a value in the query string and a value in the form.
        - The query string or the form is not UTF-8, or has too many parameters.
    """
    in_query = _known_parameters(request.query_string)
    for name in _NOT_IN_A_URL:
        if name in in_query:
            raise invalid_request(f"The parameter {name} must be a form field, not a part of the address.")
    body = read_body(request)
    if body and request.mimetype not in (FORM, ""):
        raise invalid_request(f"The request body must have Content-Type {FORM}.")
    in_form = _known_parameters(body)
    for name in sorted(in_query.keys() & in_form.keys()):
        raise invalid_request(f"The parameter {name} is given more than once.")
    return {**in_query, **in_form}


def _known_parameters(encoded: bytes) -> dict[str, str]:
    """Return the known parameters in a query string or a form. Empty parameters are left out.

    Spaces and colons need not be percent-encoded, because clients that build a form by hand may send a scope as it is
    written: ``scope=manage_test:p view_test:p``. ``parse_qsl`` accepts both.

    :raises ApiError: 400 ``invalid_request`` if a known parameter occurs twice, even if it is empty, if the text is not
        UTF-8, or if it has too many parameters.
    """
    try:
        pairs = parse_qsl(encoded.decode(), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_AT_MOST)
    except UnicodeDecodeError:
        raise invalid_request("The parameters are not UTF-8.") from None
    except ValueError:
        raise invalid_request(f"There are more than {FIELDS_AT_MOST} parameters.") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise invalid_request(f"The parameter {name} is given more than once.")
        if name in _PARAMETERS:
            found[name] = value
    return {name: value for name, value in found.items() if value}


def read_credentials(request: Request, parameters: Mapping[str, str]) -> Credentials:
    """Return the id and the secret of a client. They are in the Authorization header or, without this header, in the
    form.

    :param parameters: the parameters of the request, from :func:`read_parameters`.
    :raises ApiError: 401 ``invalid_client`` in these cases:

        - There is no Authorization header, and the form lacks ``client_id`` or ``client_secret``.
        - The Authorization header is not HTTP Basic.
        - The id does not have the form of a client's id (:data:`_CLIENT_ID`).

        400 ``invalid_request`` in these cases:

        - There is an Authorization header, and the form has a ``client_secret``, too.
        - The ``client_id`` of the form differs from the id in the Authorization header.
    """
    client_id, secret = parameters.get("client_id"), parameters.get("client_secret")
    if "Authorization" in request.headers:
        user, password = _basic_credentials(request.headers["Authorization"])
        if secret is not None:
            raise invalid_request("The client authenticates both in the header and in the form.")
        if client_id not in (None, user):
            raise invalid_request("The parameter client_id names another client than the header.")
        client_id, secret = user, password
    if client_id is None or secret is None or _CLIENT_ID.fullmatch(client_id) is None:
        raise errors.invalid_client()
    return Credentials(client_id, secret)


def _basic_credentials(authorization: str) -> tuple[str, str]:
    """Decode user and password of HTTP Basic (RFC 7617), which are also form-encoded (RFC 6749, section 2.3.1).

    Not by werkzeug's ``request.authorization``, which fails on a header that is not ASCII, and takes a missing colon
    for an empty password.

    :raises ApiError: 401 if the header is not HTTP Basic.
    """
    scheme, _, encoded = authorization.partition(" ")
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        raise errors.invalid_client() from None
    if scheme.lower() != "basic" or not colon:
        raise errors.invalid_client()
    return unquote_plus(user), unquote_plus(password)


def invalid_request(message: str) -> errors.ApiError:
    """The error 400 for a request that is malformed (RFC 6749, section 5.2)."""
    return errors.oauth_error("invalid_request", message)
