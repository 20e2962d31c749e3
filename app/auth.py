"""From a bearer token to a principal, and the gate that every request passes before anything of it is parsed.

Authorisation is data: a view carries the scopes of which one is needed (:func:`scopes`) or is marked :func:`public`.
A view without a mark cannot be reached.
"""

import re
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar, cast

from flask import Flask, Request, current_app, g, request
from flask.views import View
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app import errors
from app.identity import ALGORITHM
from app.model import Caller, Principal

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_MARK = "accepted_scopes"
_PUBLIC: tuple[str, ...] = ()
_KEYS_REFRESHED_AT_MOST_EVERY_S = 5.0
_TOKEN_LENGTH_AT_MOST = 8192


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


class InvalidToken(Exception):
    """The token is malformed, not signed by a known key, not yet or no longer valid, or not meant for us."""


class TokenVerifier:
    """Checks tokens against keys that are loaded on first need, and again when a token names an unknown one.

    :param load_keys: brings the keys; may take its time, and raise.
    """

    def __init__(self, issuer: str, load_keys: Callable[[], KeySet]) -> None:
        self._load_keys = load_keys
        self._keys = KeySet([])
        self._keys_loaded_at = float("-inf")
        self._lock = Lock()
        self._claims = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": issuer},
            exp={"essential": True},
            client_id={"essential": True},
            scope={"essential": True},
        )

    def verify(self, token: str) -> Principal:
        """The principal of a valid token.

        :raises InvalidToken: for any other.
        :raises ApiError: 503 if the keys cannot be loaded.
        """
        if len(token) > _TOKEN_LENGTH_AT_MOST:
            raise InvalidToken
        try:
            decoded = jwt.decode(token, self._key_of, algorithms=[ALGORITHM])
            self._claims.validate(decoded.claims)
        except (JoseError, ValueError) as error:
            raise InvalidToken from error
        client_id, scope = decoded.claims["client_id"], decoded.claims["scope"]
        if not isinstance(client_id, str) or not isinstance(scope, str):
            raise InvalidToken
        return Principal(client_id, frozenset(scope.split()))

    def _key_of(self, signature: Any) -> Any:
        kid = signature.headers().get("kid")
        if not isinstance(kid, str):
            raise InvalidToken
        key = self._known(kid)
        if key is None:
            self._reload()
            key = self._known(kid)
        if key is None:
            raise InvalidToken
        return key

    def _known(self, kid: str) -> Any:
        return next((key for key in self._keys.keys if key.kid == kid), None)

    def _reload(self) -> None:
        """Load the keys, but not more often than every few seconds: tokens with invented key ids cost no query each."""
        with self._lock:
            if time.monotonic() - self._keys_loaded_at < _KEYS_REFRESHED_AT_MOST_EVERY_S:
                return
            self._keys = self._load_keys()
            self._keys_loaded_at = time.monotonic()


_AUTHORIZATION = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE | re.ASCII)


def install_gate(app: Flask, verifier: TokenVerifier) -> None:
    """Let no request reach a view without the scopes that the view is marked with.

    Runs before parsing, so that a stranger learns nothing from error messages and costs no work.
    """

    @app.before_request
    def pass_gate() -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
        if request.routing_exception is not None or _is_automatic_options(request):
            return
        accepted = accepted_scopes(_view_of(request))
        if accepted == _PUBLIC:
            return
        project_key = str((request.view_args or {}).get("project_key", ""))
        principal = _authenticate(verifier, request, project_key)
        if accepted is None or not any(f"{scope}:{project_key}" in principal.scopes for scope in accepted):
            raise errors.insufficient_scope(project_key, accepted or ())
        g.principal = principal


def _is_automatic_options(request: Request) -> bool:
    return request.method == "OPTIONS" and bool(getattr(request.url_rule, "provide_automatic_options", False))


def _view_of(request: Request) -> Any:
    """The function that will answer; a MethodView answers HEAD with get if it has no head."""
    function = current_app.view_functions[str(request.endpoint)]
    view_class = cast("type[View] | None", getattr(function, "view_class", None))
    if view_class is None:
        return function
    method = request.method.lower()
    if method == "head" and not hasattr(view_class, "head"):
        method = "get"
    return getattr(view_class, method, None)


def _authenticate(verifier: TokenVerifier, request: Request, realm: str) -> Principal:
    header = request.headers.get("Authorization")
    if header is None:
        message = "This endpoint requires an access token. You can get one from the authorization server."
        raise errors.unauthorized(realm, message, token_given=False)
    match = _AUTHORIZATION.fullmatch(header)
    if match is None:
        raise errors.unauthorized(realm, "invalid_token", token_given=True)
    try:
        return verifier.verify(match.group(1))
    except InvalidToken:
        raise errors.unauthorized(realm, "invalid_token", token_given=True) from None


def caller() -> Caller:
    """Who makes the current request, in which project."""
    principal: Principal = g.principal
    return Caller((request.view_args or {})["project_key"], principal.client_id)
