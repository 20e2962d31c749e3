"""From a bearer token to a principal, and the gate that every request passes before anything of it is parsed.

Authorisation is data: a view carries the scopes of which one is needed (:func:`scopes`) or is marked :func:`public`.
A view without a mark cannot be reached.
"""

import hmac
import logging
import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from flask import Flask, Request, g, request
from flask.views import View
from werkzeug.routing import Rule

from app import errors
from app.identity.tokens import InvalidToken, TokenVerifier
from app.resource.model import Caller, Principal
from app.telemetry.metrics import metrics

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_MARK = "accepted_scopes"
_PUBLIC: tuple[str, ...] = ()

_log = logging.getLogger("app.identity")


def scopes(*accepted: str) -> Callable[[AnyView], AnyView]:
    """Mark a view: a token needs one of these scopes for the project in the path."""
    if not accepted:
        raise ValueError("a view for everyone is marked with public")

    def mark(view: AnyView) -> AnyView:
        setattr(view, _MARK, accepted)
        return view

    return mark


def public(view: AnyView) -> AnyView:
    """Mark a view that needs no token."""
    setattr(view, _MARK, _PUBLIC)
    return view


def accepted_scopes(view: Any) -> tuple[str, ...] | None:
    """The scopes of which a view needs one; none of them: a view for everyone; None: the mark is missing."""
    return getattr(view, _MARK, None)


# Not IGNORECASE, which would make the match of a token take 4 µs longer.
_AUTHORIZATION = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]+=*) *", re.ASCII)


def install_gate(app: Flask, verifier: TokenVerifier) -> None:
    """Let no request reach a view without the scopes that the view is marked with.

    Runs before parsing, so that a stranger learns nothing from error messages and costs no work.
    """

    @cache
    def accepted_by(endpoint: str, method: str) -> tuple[str, ...] | None:
        return accepted_scopes(_view_of(app.view_functions[endpoint], method))

    @app.before_request
    def pass_gate() -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
        # Each look at it goes through a proxy, which adds up.
        asked = cast("Request", cast("Any", request)._get_current_object())
        rule, method = asked.url_rule, asked.method
        if rule is None or asked.routing_exception is not None or _is_automatic_options(rule, method):
            return
        accepted = accepted_by(rule.endpoint, method)
        if accepted == _PUBLIC:
            return
        project_key = str((asked.view_args or {}).get("project_key", ""))
        principal = _authenticate(verifier, asked, project_key)
        for scope in accepted or ():
            if f"{scope}:{project_key}" in principal.scopes:
                g.principal = principal
                return
        raise errors.insufficient_scope(project_key, accepted or ())


def _is_automatic_options(rule: Rule, method: str) -> bool:
    return method == "OPTIONS" and bool(getattr(rule, "provide_automatic_options", False))


def _view_of(function: Any, method: str) -> Any:
    """The function that will answer; a MethodView answers HEAD with get if it has no head."""
    view_class = cast("type[View] | None", getattr(function, "view_class", None))
    if view_class is None:
        return function
    name = method.lower()
    if name == "head" and not hasattr(view_class, "head"):
        name = "get"
    return getattr(view_class, name, None)


def raise_unless_bearer(expected: str, realm: str) -> None:
    """Let the current request pass only with one certain bearer token.

    How long the comparison takes tells nothing of where a wrong one differs.

    :raises ApiError: 401.
    """
    match = _AUTHORIZATION.fullmatch(request.headers.get("Authorization", ""))
    if match is None:
        raise errors.unauthorized(realm, "This endpoint requires an access token.", token_given=False)
    if not hmac.compare_digest(match.group(1).encode(), expected.encode()):
        raise errors.unauthorized(realm, "invalid_token", token_given=True)


def _authenticate(verifier: TokenVerifier, request: Request, realm: str) -> Principal:
    # Two such headers arrive as one with a comma, which no token has.
    header: str = request.environ.get("HTTP_AUTHORIZATION", "")
    match = _AUTHORIZATION.fullmatch(header)
    if match is None and header.partition(" ")[0].lower() != "bearer":
        # Without a token, or with credentials of another kind, the challenge names no error (RFC 6750, section 3.1).
        message = "This endpoint requires an access token. You can get one from the authorization server."
        raise errors.unauthorized(realm, message, token_given=False)
    try:
        if match is None:
            metrics.count_token_check("refused")
            raise InvalidToken("malformed")
        return verifier.verify(match.group(1)).principal
    except InvalidToken as error:
        fields = {"reason": error.reason, "correlation_id": g.get("correlation_id")}
        _log.info("access token refused", extra={"fields": fields})
        raise errors.unauthorized(realm, "invalid_token", token_given=True) from None


def raise_if_scope_is_missing(scope: str) -> None:
    """Refuse the current request if its token lacks a scope that only some requests to the endpoint need.

    :raises ApiError: 403.
    """
    project_key = caller().project_key
    principal: Principal = g.principal
    if f"{scope}:{project_key}" not in principal.scopes:
        raise errors.insufficient_scope(project_key, (scope,))


def caller() -> Caller:
    """Who makes the current request, in which project."""
    principal: Principal = g.principal
    return Caller((request.view_args or {})["project_key"], principal.client_id)
