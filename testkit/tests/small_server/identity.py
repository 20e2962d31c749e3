"""Clients, tokens and scopes: RFC 6749 section 4.4, RFC 7662, RFC 7009 and RFC 8414."""

import base64
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from .refusals import Refused, entry
from .tokens import key_set, signed

LIFETIME_S = 172_800

NAMES = ("manage_test", "view_test", "view_products", "view_published_products")

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Client:
    """A client and its scopes."""

    id: str
    secret: str
    scopes: tuple[str, ...]
    name: str = "A client of the small server"


@dataclass(frozen=True)
class Token:
    """A token that was issued."""

    client: Client
    scopes: tuple[str, ...]
    expires: int


class Identity:
    """Who may do what."""

    def __init__(self) -> None:
        self.clients: dict[str, Client] = {}
        self.tokens: dict[str, Token] = {}
        self.issuer = ""
        self.key_set = key_set

    def metadata(self) -> dict[str, str]:
        """Where things are (RFC 8414)."""
        return {
            "issuer": self.issuer,
            "token_endpoint": f"{self.issuer}/oauth/token",
            "jwks_uri": f"{self.issuer}/.well-known/jwks.json",
            "introspection_endpoint": f"{self.issuer}/oauth/introspect",
            "revocation_endpoint": f"{self.issuer}/oauth/revoke",
        }

    def new_client(self, *projects: str) -> Client:
        """A client with all scopes of projects."""
        scopes = tuple(f"{name}:{project}" for project in projects for name in NAMES)
        made = Client(secrets.token_hex(12), secrets.token_urlsafe(24), scopes)
        self.clients[made.id] = made
        return made

    def issue(self, client: Client, scopes: tuple[str, ...]) -> str:
        """A new token."""
        now = int(time.time())
        text = signed(self.claims(client, scopes, now))
        self.tokens[text] = Token(client, scopes, now + LIFETIME_S)
        return text

    def claims(self, client: Client, scopes: tuple[str, ...], now: int) -> dict[str, Any]:
        """What a token says (RFC 9068, section 2.2)."""
        return {
            "iss": self.issuer,
            "aud": self.issuer,
            "sub": client.id,
            "client_id": client.id,
            "iat": now,
            "exp": now + LIFETIME_S,
            "jti": secrets.token_hex(8),
            "scope": " ".join(scopes),
        }

    # Requests

    def admitted(self, authorization: str | None, project: str, scopes: tuple[str, ...]) -> Token:
        """The token of a request.

        :raises Refused: if there is none with one of the scopes.
        """
        scheme, _, text = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            raise self.no_token()
        token = self.tokens.get(text.strip())
        if token is None:
            raise self.bad_token()
        if not self.suffices(token, project, scopes):
            raise self.insufficient(scopes)
        return token

    def suffices(self, token: Token, project: str, scopes: tuple[str, ...]) -> bool:
        """Whether a token has one of these scopes for a project."""
        return any(f"{name}:{project}" in token.scopes for name in scopes)

    def no_token(self) -> Refused:
        """The answer to a request without a token."""
        message = "This endpoint requires an access token. You can get one from the authorization server."
        return Refused(401, entry("invalid_token", message), headers={"WWW-Authenticate": "Bearer"}, oauth=True)

    def bad_token(self) -> Refused:
        """The answer to a request with a token that is none."""
        headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        return Refused(401, entry("invalid_token", "invalid_token"), headers=headers, oauth=True)

    def insufficient(self, scopes: tuple[str, ...]) -> Refused:
        """The answer to a request whose token has too few scopes."""
        message = f"Insufficient scope. One of the following scopes is missing: {', '.join(scopes)}."
        headers = {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}
        return Refused(403, entry("insufficient_scope", message), headers=headers, oauth=True)

    # The endpoints below /oauth

    def form(self, content_type: str, body: bytes, query: str) -> dict[str, str]:
        """The fields of a form.

        :raises Refused: for a field that is repeated, and a body that is no form.
        """
        if body and content_type.partition(";")[0].strip().lower() != FORM:
            raise self.bad_request(f"The body has to be a form ({FORM}).")
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
        asked = parse_qsl(query, keep_blank_values=True)
        hidden = {name for name, _ in asked} & {"client_id", "client_secret", "token"}
        if hidden:
            raise self.bad_request(f"{', '.join(sorted(hidden))} may not be in the query string.")
        names = [name for name, _ in pairs + asked]
        known = ("grant_type", "scope", "client_id", "client_secret", "token")
        repeated = [name for name in known if names.count(name) > 1]
        if repeated:
            raise self.bad_request(f"{repeated[0]} is given more than once.")
        return dict(pairs + asked)

    def bad_request(self, message: str) -> Refused:
        """A request that OAuth does not have."""
        return Refused(400, entry("invalid_request", message), oauth=True)

    def client_of(self, authorization: str | None, form: dict[str, str]) -> Client:
        """The client that sends a request.

        :raises Refused: if it is none.
        """
        scheme, _, text = (authorization or "").partition(" ")
        if scheme.lower() == "basic":
            if "client_id" in form or "client_secret" in form:
                raise self.bad_request("Credentials stand both in the header and in the form.")
            try:
                name, _, secret = base64.b64decode(text, validate=True).decode().partition(":")
            except ValueError:
                raise self.bad_client() from None
            name, secret = unquote_plus(name), unquote_plus(secret)
        else:
            name, secret = form.get("client_id", ""), form.get("client_secret", "")
        client = self.clients.get(name)
        if client is None or not secrets.compare_digest(client.secret.encode(), secret.encode()):
            raise self.bad_client()
        return client

    def bad_client(self) -> Refused:
        """The answer to wrong credentials."""
        message = "Please provide valid client credentials using HTTP Basic Authentication."
        headers = {"WWW-Authenticate": 'Basic realm="oauth"'}
        return Refused(401, entry("invalid_client", message), headers=headers, oauth=True)

    def grant(self, client: Client, form: dict[str, str]) -> dict[str, Any]:
        """The answer of the token endpoint."""
        if "grant_type" not in form:
            raise self.bad_request("Missing required parameter: grant_type.")
        if form["grant_type"] != "client_credentials":
            message = f"Invalid parameter: grant_type: Invalid grant type: '{form['grant_type']}'"
            raise Refused(400, entry("unsupported_grant_type", message), oauth=True)
        scopes = self.scopes(client, form["scope"]) if "scope" in form else client.scopes
        return {
            "access_token": self.issue(client, scopes),
            "expires_in": LIFETIME_S,
            "scope": " ".join(scopes),
            "token_type": "Bearer",
        }

    def scopes(self, client: Client, asked: str) -> tuple[str, ...]:
        """The scopes of a new token.

        :raises Refused: for scopes that do not exist, or that the client does not have.
        """
        wanted = tuple(dict.fromkeys(asked.split()))
        known = "|".join(NAMES)
        if not wanted or not all(re.fullmatch(rf"({known}):[A-Za-z0-9_-]{{1,64}}", scope) for scope in wanted):
            raise Refused(400, entry("invalid_scope", "Malformed parameter: scope: Invalid scope."), oauth=True)
        if not set(wanted) <= set(client.scopes):
            message = "Permissions exceeded. Only the following permissions can be requested: "
            raise Refused(400, entry("invalid_scope", f"{message}{' '.join(client.scopes)}."), oauth=True)
        return wanted

    def introspect(self, form: dict[str, str]) -> dict[str, Any]:
        """What is known of a token."""
        token = self.tokens.get(self.named(form))
        if token is None:
            return {"active": False}
        return {
            "active": True,
            "scope": " ".join(token.scopes),
            "exp": token.expires,
            "client_id": token.client.id,
        }

    def revoke(self, client: Client, form: dict[str, str]) -> None:
        """Forget a token."""
        token = self.tokens.get(self.named(form))
        if token is not None and token.client.id != client.id:
            raise Refused(400, entry("invalid_grant", "The token was issued to another client."), oauth=True)
        self.tokens.pop(self.named(form), None)

    def named(self, form: dict[str, str]) -> str:
        """The token that a form has."""
        if not form.get("token"):
            raise self.bad_request("Missing required parameter: token.")
        return form["token"]
