"""The authorization server: it issues tokens for client credentials, and answers its other endpoints.

A client authenticates with HTTP Basic or with form fields, not with both (RFC 6749, section 2.3). Parameters are form
fields. ``grant_type``, ``scope`` and ``token_type_hint`` may be in the query string instead, as the platform allows. A
parameter in both places is refused as given twice (RFC 6749, section 3.2). Secrets and tokens are refused in the query
string, because URLs end up in logs (RFC 6749, section 2.3.1). Unknown parameters are ignored, and empty parameters
count as absent (RFC 6749, section 3.2).

There is no rate limit, because requests are cheap: refusing a client costs one index lookup and one SHA-256, and
issuing a token one more lookup and one signature.
"""

import base64
import json
import logging
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

import psycopg
from flask import Request
from joserfc import jws

from app import errors
from app.clock_and_ids import REAL_CLOCKS, ClockAndIds, Clocks
from app.config import Settings
from app.database.connection import Connection
from app.database.pool import Database
from app.http.bodies import FIELDS_AT_MOST, FORM, read_body
from app.http.request_log import correlation_fields
from app.identity import clients, issued_tokens
from app.identity.clients import Client
from app.identity.outside_issuer import OutsideIssuer
from app.identity.own_issuer import OwnIssuer
from app.identity.signing_keys import KeyEncryption, KeyUnreadable, check_signing_key
from app.identity.token_profile import SCOPE, TOKEN_LIFETIME_S, projects_of
from app.identity.verification import InvalidToken, Principal, TokenVerifier

BODY_BYTES_AT_MOST = 32 * 1024
"""The most bytes of a body: enough for a token and the other fields of a form, all percent-encoded."""

_PARAMETERS = ("grant_type", "scope", "token", "token_type_hint", "client_id", "client_secret")
_NOT_IN_A_URL = ("token", "client_id", "client_secret")
_CLIENT_ID = re.compile("[A-Za-z0-9_-]{1,32}", re.ASCII)
"""The form of a client's id. It is shorter than any secret, so that a secret sent as the id is refused before it is
logged."""

_log = logging.getLogger("app.identity")


@dataclass(frozen=True, slots=True)
class Credentials:
    """The id and the secret that a client sends."""

    client_id: str
    secret: str


def issue_for_answer(
    connection: Connection,
    issuer: str,
    client_id: str,
    scopes: tuple[str, ...],
    encryption: KeyEncryption,
    clock_and_ids: ClockAndIds,
) -> str:
    """Make and sign an access token of the usual lifetime for the answer to the current request.

    :raises ApiError: 503 if there is no signing key, or if it cannot be decrypted; the log has the reason.
    """
    try:
        return issued_tokens.issue_token(
            connection, issuer, client_id, scopes, TOKEN_LIFETIME_S, encryption, clock_and_ids
        )
    except LookupError as error:
        _log.error("no token can be signed", extra={"fields": {"reason": str(error), **correlation_fields()}})
        raise errors.over_capacity("No token can be signed at the moment.", retry_after_s=60) from None


class AuthorizationServer:
    """Issues and revokes the service's own tokens. Its ``verifier`` verifies the tokens of all trusted issuers."""

    def __init__(self, settings: Settings, database: Database, clocks: Clocks = REAL_CLOCKS) -> None:
        self._issuer = settings.issuer
        self._base_url = settings.authorization_url
        self._encryption = KeyEncryption(settings.key_encryption_keys)
        self._database = database
        self._own = OwnIssuer(settings.issuer, database.own_connection)
        self._clocks = clocks
        outside = settings.outside_issuer
        self._outside = None if outside is None else OutsideIssuer(outside)
        issuers = [self._own] if self._outside is None else [self._own, self._outside]
        self.verifier = TokenVerifier(issuers, clocks)

    def load_ahead(self) -> None:
        """Read keys and revocations before the first request needs them, if the database can be read.

        A database without its tables or privileges does not end the start. Readiness fails until they are there.
        """
        with suppress(errors.ApiError, psycopg.Error):
            self._own.refresh()
        if self._outside is not None:
            self._outside.load_ahead()

    def signing_fault(self, connection: Connection) -> str | None:
        """For readiness probes, the reason why no token can be signed: the signing key cannot be decrypted. None if it
        can."""
        try:
            check_signing_key(connection, self._encryption)
        except KeyUnreadable:
            # This text is public. The reason is only in the log: from the start, and for each refused token request.
            return "No token can be signed: the signing key in the database cannot be decrypted."
        return None

    def trust_fault(self) -> str | None:
        """For readiness probes, the reason why no token can be verified; None if tokens can be verified.

        Keys and revocations are read on a separate connection, which may be missing although the pool has
        connections.
        """
        try:
            self._own.snapshot()
        except errors.ApiError as error:
            return str(error)
        return None

    def grant(self, request: Request) -> dict[str, Any]:
        """Answer a token request (RFC 6749, section 4.4).

        :raises ApiError: 400 or 401 with a code of section 5.2.
        """
        with self._authenticated(request) as (client, parameters):
            grant_type = _required(parameters, "grant_type")
            if grant_type != "client_credentials":
                raise errors.oauth_error(
                    "unsupported_grant_type",
                    f"Invalid parameter: grant_type: Invalid grant type: '{grant_type[:100]}'",
                )
            scopes = _granted(client, parameters.get("scope"))
            clock_and_ids = self._clocks.of_client(client.client_id)
            with self._database.connection() as connection:
                token = issue_for_answer(
                    connection, self._issuer, client.client_id, scopes, self._encryption, clock_and_ids
                )
        _log.info("token issued", extra={"fields": {"client": client.client_id, **correlation_fields()}})
        return {
            "access_token": token,
            "expires_in": TOKEN_LIFETIME_S,
            "scope": " ".join(scopes),
            "token_type": "Bearer",
        }

    def introspect(self, request: Request) -> dict[str, Any]:
        """Answer an introspection request (RFC 7662). The answer for an invalid token is only ``"active": false``.

        A token of another client gets this answer, too, if it is for a project of which the asking client has no scope
        (section 2.2).
        """
        with self._authenticated(request) as (client, parameters):
            token = _required(parameters, "token")
        try:
            verified = self.verifier.verify(token)
        except InvalidToken:
            return {"active": False}
        if not _may_introspect(client, verified.principal):
            return {"active": False}
        # The snapshot of this process may lack revocations by other processes in the last seconds.
        if verified.issuer is self._own:
            with self._database.connection() as connection:
                if issued_tokens.is_revoked(connection, str(verified.token_id), verified.principal.client_id):
                    return {"active": False}
        claims: dict[str, Any] = json.loads(jws.extract_compact(token.encode()).payload)
        known = {name: claims[name] for name in ("iss", "sub", "aud", "iat", "nbf", "jti") if name in claims}
        return {
            "active": True,
            "scope": claims.get("scope", ""),
            "client_id": verified.principal.client_id,
            "token_type": "Bearer",
            "exp": int(verified.expires_at),
            **known,
        }

    def revoke(self, request: Request) -> dict[str, Any]:
        """Revoke one of the client's own tokens (RFC 7009). For an invalid token, the answer is the same as on success.

        :raises ApiError: 400 ``invalid_grant`` if the token was issued to another client (section 2.1).
        """
        with self._authenticated(request) as (client, parameters):
            try:
                verified = self.verifier.verify(_required(parameters, "token"))
            except InvalidToken:
                return {}
            if verified.issuer is not self._own or verified.token_id is None:
                return {}  # only the outside issuer can revoke its token
            if verified.principal.client_id != client.client_id:
                raise errors.oauth_error("invalid_grant", "The token was issued to another client.")
        with self._database.connection() as connection:
            kept_until = self._clocks.of_client(client.client_id).kept_until(verified.expires_at)
            issued_tokens.revoke_token(connection, verified.token_id, kept_until)
        self._own.refresh()
        _log.info("token revoked", extra={"fields": {"client": client.client_id, **correlation_fields()}})
        return {}

    def key_set(self) -> str:
        """The public keys as a JSON Web Key Set (RFC 7517), including keys that do not sign yet."""
        return f'{{"keys":[{",".join(self._own.snapshot().records.public_jwks)}]}}'

    def metadata(self) -> dict[str, Any]:
        """The metadata of the authorization server (RFC 8414)."""
        base = self._base_url
        methods = ["client_secret_basic", "client_secret_post"]
        return {
            "issuer": self._issuer,
            "token_endpoint": f"{base}/oauth/token",
            "token_endpoint_auth_methods_supported": methods,
            "grant_types_supported": ["client_credentials"],
            "response_types_supported": [],
            "jwks_uri": f"{base}/.well-known/jwks.json",
            "introspection_endpoint": f"{base}/oauth/introspect",
            "introspection_endpoint_auth_methods_supported": methods,
            "revocation_endpoint": f"{base}/oauth/revoke",
            "revocation_endpoint_auth_methods_supported": methods,
            "service_documentation": f"{base}/docs",
        }

    @contextmanager
    def _authenticated(self, request: Request) -> Generator[tuple[Client, Mapping[str, str]]]:
        """Authenticate the client of a request for the ``with`` block. Every 4xx of the authentication or the block is
        logged.

        No database connection is held during the block, because verifying a token may need one.
        """
        client_id = None
        try:
            parameters = read_parameters(request)
            credentials = read_credentials(request, parameters)
            client_id = credentials.client_id
            with self._database.connection() as connection:
                client = clients.authenticate_client(connection, client_id, credentials.secret)
            if client is None:
                raise errors.invalid_client()
            yield client, parameters
        except errors.ApiError as error:
            if error.status < 500:
                fields = {
                    "path": request.path,
                    "client": client_id,
                    "error": error.faults[0].code,
                    **correlation_fields(),
                }
                _log.warning("client refused", extra={"fields": fields})
            raise


def _required(parameters: Mapping[str, str], name: str) -> str:
    if name not in parameters:
        raise _invalid_request(f"Missing required parameter: {name}.")
    return parameters[name]


def _may_introspect(client: Client, principal: Principal) -> bool:
    """Whether a token was issued to a client, or is only for projects of which this client has scopes."""
    if principal.client_id == client.client_id:
        return True
    projects = projects_of(principal.scopes)
    return bool(projects) and projects <= client.projects


def _granted(client: Client, asked: str | None) -> tuple[str, ...]:
    """The requested scopes in their order; all scopes of the client if none are requested."""
    if asked is None:
        return client.scopes
    scopes = tuple(dict.fromkeys(scope for scope in asked.split(" ") if scope))
    if not scopes or any(SCOPE.fullmatch(scope) is None for scope in scopes):
        raise errors.oauth_error("invalid_scope", "Malformed parameter: scope: Invalid scope.")
    if not set(scopes) <= set(client.scopes):
        permitted = " ".join(client.scopes)
        raise errors.oauth_error(
            "invalid_scope", f"Permissions exceeded. Only the following permissions can be requested: {permitted}"
        )
    return scopes


# Requests


def read_parameters(request: Request) -> dict[str, str]:
    """Return the known parameters of an OAuth request that are not empty.

    Unencoded spaces and colons are accepted, because clients that build a form by hand may send them.

    :raises ApiError: 400 ``invalid_request`` if the body is no form, if a parameter is repeated in the form, in the
        query string or across both, or if a secret or token is in the query string; 413 for a body over
        :data:`BODY_BYTES_AT_MOST`.
    """
    in_query = _known_parameters(request.query_string)
    for name in _NOT_IN_A_URL:
        if name in in_query:
            raise _invalid_request(f"The parameter {name} must be a form field, not a part of the address.")
    in_form = _known_parameters(_body(request))
    for name in sorted(in_query.keys() & in_form.keys()):
        raise _invalid_request(f"The parameter {name} is given more than once.")
    return {**in_query, **in_form}


def _body(request: Request) -> bytes:
    body = read_body(request, BODY_BYTES_AT_MOST)
    if body and request.mimetype not in (FORM, ""):
        raise _invalid_request(f"The request body must have Content-Type {FORM}.")
    return body


def _known_parameters(encoded: bytes) -> dict[str, str]:
    """The known parameters in a query string or form, without empty ones."""
    try:
        pairs = parse_qsl(encoded.decode(), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_AT_MOST)
    except UnicodeDecodeError:
        raise _invalid_request("The parameters are not UTF-8.") from None
    except ValueError:
        raise _invalid_request(f"There are more than {FIELDS_AT_MOST} parameters.") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name not in _PARAMETERS:
            continue
        if name in found:
            raise _invalid_request(f"The parameter {name} is given more than once.")
        found[name] = value
    return {name: value for name, value in found.items() if value}


def read_credentials(request: Request, parameters: Mapping[str, str]) -> Credentials:
    """Return the credentials of a client from the Authorization header or from the form.

    RFC 6749, section 2.3.1 requires user and password of HTTP Basic to be form-encoded.

    :raises ApiError: 401 ``invalid_client`` if there are no credentials, or if no client can have this id; 400
        ``invalid_request`` if header and form contradict or repeat one another.
    """
    client_id, secret = parameters.get("client_id"), parameters.get("client_secret")
    if "Authorization" in request.headers:
        user, password = _basic_credentials(request.headers["Authorization"])
        if secret is not None:
            raise _invalid_request("The client authenticates both in the header and in the form.")
        secret = password
        if client_id not in (None, user):
            raise _invalid_request("The parameter client_id names another client than the header.")
        client_id = user
    if client_id is None or secret is None or _CLIENT_ID.fullmatch(client_id) is None:
        raise errors.invalid_client()
    return Credentials(client_id, secret)


def _basic_credentials(authorization: str) -> tuple[str, str]:
    """Decode user and password of HTTP Basic (RFC 7617). werkzeug fails on a header that is not ASCII, and takes a
    missing colon for an empty password."""
    scheme, _, encoded = authorization.partition(" ")
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        raise errors.invalid_client() from None
    if scheme.lower() != "basic" or not colon:
        raise errors.invalid_client()
    return unquote_plus(user), unquote_plus(password)


def _invalid_request(message: str) -> errors.ApiError:
    return errors.oauth_error("invalid_request", message)
