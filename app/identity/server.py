"""The authorization server: it issues tokens for client credentials, and answers its other endpoints.

There is no rate limit, because requests are cheap: refusing a client costs at most three index lookups and three
SHA-256, and issuing a token one lookup and one row, besides the removal of outdated rows.
"""

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import psycopg
from flask import Request

from app import errors
from app.clock_and_ids import REAL_CLOCKS, Clocks
from app.database.connection import Connection
from app.database.pool import Database
from app.http.client_requests import Credentials, invalid_request, read_credentials, read_parameters
from app.http.request_log import correlation_fields
from app.identity import clients, tokens
from app.identity.clients import Client
from app.identity.scopes import SCOPE, projects_of
from app.identity.tokens import TOKEN_LIFETIME_S, AccessToken, digest_of
from app.identity.verification import InvalidToken, TokenVerifier

REMOVED_EVERY = 16
"""A process removes outdated tokens with its first grant, and then with every 16th. Each time it removes at most
:data:`app.identity.tokens.REMOVED_AT_ONCE`, far more than it has granted since the last time."""

_log = logging.getLogger("app.identity")


class AuthorizationServer:
    """Issues, describes and revokes tokens. Its ``verifier`` verifies them.

    Each method for a request returns the body of the answer. It raises an ApiError: 400 or 401 with a code of RFC 6749,
    section 5.2; 400, 413, 415 or 431 for a body that does not arrive, or not in order; 503 if the database cannot serve
    it.
    """

    def __init__(self, database: Database, clocks: Clocks = REAL_CLOCKS) -> None:
        self._database = database
        self._clocks = clocks
        self._issued = count()
        """Counts the issued tokens; :data:`REMOVED_EVERY` says when :meth:`grant` removes outdated ones."""
        # The verifier looks tokens up on the service's own connection. In the pool, its lookups would wait behind
        # requests that wait for a connection.
        self.verifier = TokenVerifier(database.own_connection, clocks)

    def grant(self, request: Request) -> dict[str, Any]:
        """Answer a token request (RFC 6749, section 4.4).

        The statement that stores the token also authenticates the client (:func:`app.identity.tokens.grant_token`).
        The client is authenticated separately only if no token is granted, to choose the error: wrong credentials are
        answered with 401, even if the grant type or the scopes are wrong as well.
        """
        with self._client_request(request) as (connection, credentials, parameters):
            try:
                _check_grant_type(parameters)
                asked = _asked_scopes(parameters)
            except errors.ApiError:
                _authenticated(connection, credentials)  # raises 401 for wrong credentials, in place of this error
                raise
            clock_and_ids = self._clocks.of_client(credentials.client_id)
            secret_hash = digest_of(credentials.secret)
            granted = tokens.grant_token(connection, credentials.client_id, secret_hash, asked, clock_and_ids)
            if granted is None:
                # The credentials are wrong, and _authenticated raises 401; or the client lacks one of the scopes.
                known = " ".join(_authenticated(connection, credentials).scopes)
                raise errors.oauth_error(
                    "invalid_scope", f"Permissions exceeded. Only the following permissions can be requested: {known}"
                )
            token, scopes = granted
            if next(self._issued) % REMOVED_EVERY == 0:
                with suppress(psycopg.Error):  # the token is stored already
                    tokens.remove_outdated(connection)
        _log.info("token issued", extra={"fields": {"client": credentials.client_id, **correlation_fields()}})
        return {
            "access_token": token,
            "expires_in": TOKEN_LIFETIME_S,
            "scope": " ".join(scopes),
            "token_type": "Bearer",
        }

    def introspect(self, request: Request) -> dict[str, Any]:
        """Answer an introspection request (RFC 7662). The answer for an invalid token is only ``"active": false``.

        The answer is the same for a valid token that the asking client may not introspect (section 2.2). A client may
        introspect the tokens that were issued to it. It may introspect a token of another client only if that token has
        scopes, and the asking client has a scope for each project that these scopes name.
        """
        with self._client_request(request) as (connection, credentials, parameters):
            client = _authenticated(connection, credentials)
            found = self._valid_token(connection, parameters)
        if found is None or not _may_introspect(client, found):
            return {"active": False}
        return {
            "active": True,
            "scope": " ".join(found.scopes),
            "client_id": found.client_id,
            "token_type": "Bearer",
            "exp": int(found.expires_at),
            "iat": int(found.issued_at),
            "sub": found.client_id,
        }

    def revoke(self, request: Request) -> dict[str, Any]:
        """Revoke one of the client's own tokens (RFC 7009). For an invalid token, the answer is the same as on success.

        :raises ApiError: also 400 ``invalid_grant`` if the token was issued to another client (RFC 7009, section 2.1).
        """
        with self._client_request(request) as (connection, credentials, parameters):
            client = _authenticated(connection, credentials)
            found = self._valid_token(connection, parameters)
            if found is None:
                return {}
            if found.client_id != client.client_id:
                raise errors.oauth_error("invalid_grant", "The token was issued to another client.")
            tokens.revoke_token(connection, found.digest)
        self.verifier.forget(parameters["token"])
        _log.info("token revoked", extra={"fields": {"client": client.client_id, **correlation_fields()}})
        return {}

    @contextmanager
    def _client_request(self, request: Request) -> Generator[tuple[Connection, Credentials, Mapping[str, str]]]:
        """Read a request, and yield a connection, the client's credentials and the parameters. A 4xx is logged, whether
        it comes from reading the request or from the block."""
        client_id = None
        try:
            parameters = read_parameters(request)
            credentials = read_credentials(request, parameters)
            client_id = credentials.client_id
            with self._database.connection() as connection:
                yield connection, credentials, parameters
        except errors.ApiError as error:
            if error.status < 500:
                fields = {"path": request.path, "client": client_id, "error": error.faults[0].code}
                _log.warning("client refused", extra={"fields": {**fields, **correlation_fields()}})
            raise

    def _valid_token(self, connection: Connection, parameters: Mapping[str, str]) -> AccessToken | None:
        """The token in the parameters as the database has it now; None if it is not valid.

        :raises ApiError: 400 if the parameters have no token.
        """
        digest = digest_of(_required(parameters, "token"))
        try:
            return self.verifier.check(tokens.find_tokens(connection, [digest]).get(digest))
        except InvalidToken:
            return None


def _authenticated(connection: Connection, credentials: Credentials) -> Client:
    """The client with these credentials. Raises ApiError, 401, if there is none."""
    client = clients.authenticate_client(connection, credentials.client_id, credentials.secret)
    if client is None:
        raise errors.invalid_client()
    return client


def _required(parameters: Mapping[str, str], name: str) -> str:
    """The value of a parameter. Raises ApiError, 400, if it is missing."""
    if name not in parameters:
        raise invalid_request(f"Missing required parameter: {name}.")
    return parameters[name]


def _may_introspect(client: Client, token: AccessToken) -> bool:
    """Whether a client may introspect a token. It may if the token was issued to it. It may also introspect a token of
    another client, if that token has scopes, and the client has a scope for each project that these scopes name."""
    if token.client_id == client.client_id:
        return True
    projects = projects_of(token.scopes)
    # A token without scopes names no project: the empty set would be a subset of any client's projects.
    return bool(projects) and projects <= client.projects


def _check_grant_type(parameters: Mapping[str, str]) -> None:
    """Refuse every grant but that of client credentials, with ApiError, 400."""
    grant_type = _required(parameters, "grant_type")
    if grant_type != "client_credentials":
        raise errors.oauth_error(
            "unsupported_grant_type", f"Invalid parameter: grant_type: Invalid grant type: '{grant_type[:100]}'"
        )


def _asked_scopes(parameters: Mapping[str, str]) -> tuple[str, ...] | None:
    """The scopes in the parameter ``scope`` of a token request, in their order, each once.

    The result is None if the request has no ``scope``: the token then gets all scopes of the client. An empty ``scope``
    counts as absent, because :func:`~app.http.client_requests.read_parameters` leaves out empty parameters.

    :raises ApiError: 400 if a scope is malformed, or if ``scope`` consists of spaces.
    """
    if "scope" not in parameters:
        return None
    scopes = tuple(dict.fromkeys(scope for scope in parameters["scope"].split(" ") if scope))
    if not scopes or any(SCOPE.fullmatch(scope) is None for scope in scopes):
        raise errors.oauth_error("invalid_scope", "Malformed parameter: scope: Invalid scope.")
    return scopes
