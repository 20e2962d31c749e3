"""The gate: it authorises every request to a view that is not public, before any query parameter or body is parsed.

It compares the scopes of the bearer token with the scopes that the mark on the view accepts
(:mod:`app.identity.scopes`). So a caller without such a scope sees no error about parameters or the body, and causes no
parsing of them. A malformed request and a refused host are answered before. An unknown URL and a method that a URL
lacks need no token.
"""

import hmac
import logging
from functools import cache, partial
from typing import Any, cast

from flask import Flask, Request, g, request
from flask.views import MethodView

from app import errors
from app.http.request_log import add_log_fields, correlation_fields
from app.identity.scopes import accepted_scopes
from app.identity.tokens import AccessToken
from app.identity.verification import InvalidToken, TokenVerifier

_log = logging.getLogger("app.identity")


class Gate:
    """Lets a request reach a view that is not public only with a token that has one of the scopes that the view
    accepts.

    :param app: the application whose views are marked.
    :param verifier: verifies the tokens.
    """

    def __init__(self, app: Flask, verifier: TokenVerifier) -> None:
        self._verifier = verifier
        self._view_of = cache(partial(find_view, app))

    def check(self, request: Request) -> None:
        """Authorise the current request, as a hook before the view.

        :raises ApiError: 401 without a valid token, 403 without an accepted scope or for a view without a mark, 503 if
            the token cannot be looked up.
        """
        rule, method = request.url_rule, request.method
        answered_by_flask = method == "OPTIONS" and getattr(rule, "provide_automatic_options", False)
        if rule is None or answered_by_flask:
            return  # no view will be called
        view = self._view_of(rule.endpoint, method)
        accepted = accepted_scopes(view)
        if accepted == ():
            return  # a public view
        project_key = str((request.view_args or {}).get("project_key", ""))
        token = _authenticate(self._verifier, request.headers.get("Authorization", ""), project_key)
        # If accepted is None, the view has no mark, and no scope suffices. A test finds this mistake in the service's
        # own views, but not in those of an extension.
        if not any(f"{name}:{project_key}" in token.scopes for name in accepted or ()):
            raise errors.insufficient_scope(project_key, accepted or (), token.scopes)
        g.token = token
        add_log_fields(client=token.client_id)


def find_view(app: Flask, endpoint: str, method: str) -> Any:
    """Find the function that answers an HTTP method at an endpoint, and that therefore has the marks of the view.

    If the endpoint belongs to a MethodView, this is the function of the class for the HTTP method, such as ``get``;
    None if the class lacks the function. A MethodView without ``head`` answers HEAD by ``get``. For any other endpoint,
    this is the view function.
    """
    function = app.view_functions[endpoint]
    view_class = cast("type[MethodView] | None", getattr(function, "view_class", None))
    if view_class is None:
        return function
    name = method.lower()
    if name == "head" and not hasattr(view_class, "head"):
        name = "get"
    return getattr(view_class, name, None)


def client_id() -> str:
    """The id of the API client to which the token of the current request was issued."""
    token: AccessToken = g.token
    return token.client_id


def raise_unless_bearer(expected: str, realm: str) -> None:
    """Refuse the current request unless it has one fixed bearer token. The comparison takes constant time.

    :raises ApiError: 401 for another token or without a token.
    """
    token = _bearer_token(request.headers.get("Authorization", ""))
    if token is None:
        raise errors.token_missing(realm, "This endpoint requires an access token.")
    if not hmac.compare_digest(token.encode(), expected.encode()):
        raise errors.token_refused(realm, "it is not the configured token")


def _bearer_token(header: str) -> str | None:
    """The token after ``Bearer`` in an Authorization header; None for another scheme or an empty header.

    WSGI joins two Authorization headers by a comma. No token contains a comma, so such a request is refused.
    """
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else None


def _authenticate(verifier: TokenVerifier, header: str, realm: str) -> AccessToken:
    """The valid token of an Authorization header. Raises ApiError, 401, if there is none, and 503 if it cannot be
    looked up."""
    token = _bearer_token(header)
    if token is None:
        # Without a token, or with another scheme, the challenge has no error code (RFC 6750, section 3.1).
        needed = "This endpoint requires an access token"
        if header:
            raise errors.token_missing(realm, f"{needed} with the scheme Bearer: 'Authorization: Bearer ACCESS_TOKEN'.")
        raise errors.token_missing(realm, f"{needed}. You can get one from the authorization server.")
    try:
        return verifier.verify(token)
    except InvalidToken as error:
        _log.info("access token refused", extra={"fields": {"reason": str(error), **correlation_fields()}})
        raise errors.token_refused(realm, str(error)) from None
