"""Stored API clients: creating, authenticating, listing, revoking and removing them."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from app.database.connection import Connection
from app.identity.scopes import projects_of
from app.identity.tokens import digest_of

SCOPES_LENGTH_AT_MOST = 4096
"""The most characters of all scopes of a client or token together, which commands check. Each process remembers
thousands of tokens."""

COMMAND_LINE = "command-line"
"""The id and the name of the client of the tokens that the command ``token`` issues."""


class UnknownClient(LookupError):
    """The error for an id that no client has."""


_INSERT: LiteralString = """
INSERT INTO api_client (id, name, secret_hash, scopes, created_at)
VALUES (%(id)s, %(name)s, %(secret_hash)s, %(scopes)s, now())"""

_INSERT_IF_MISSING: LiteralString = f"{_INSERT} ON CONFLICT DO NOTHING"

_ANY_EXISTS: LiteralString = "SELECT EXISTS (SELECT FROM api_client WHERE id <> %(command_line)s)"

_FIND: LiteralString = """
SELECT id FROM api_client WHERE name = %(name)s AND scopes = %(scopes)s AND revoked_at IS NULL
ORDER BY created_at, id LIMIT 1"""

_SELECT_ALL: LiteralString = """
SELECT id, name, scopes, created_at, revoked_at FROM api_client ORDER BY created_at, id"""

_SELECT_BY_ID: LiteralString = """
SELECT id, name, scopes, created_at, revoked_at FROM api_client WHERE id = %(id)s"""

_SELECT_AUTHENTICATED: LiteralString = """
SELECT id, name, scopes, created_at, revoked_at FROM api_client
WHERE id = %(id)s AND secret_hash = %(secret_hash)s AND revoked_at IS NULL"""

_REVOKE: LiteralString = "UPDATE api_client SET revoked_at = now() WHERE id = %(id)s AND revoked_at IS NULL"

_DELETE: LiteralString = "DELETE FROM api_client WHERE id = %(id)s"


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client that has just been created, with its secret. The secret is not stored, so it cannot be shown again."""

    client_id: str
    client_secret: str
    name: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Client:
    """A stored client, without the hash of its secret."""

    client_id: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None

    @property
    def projects(self) -> set[str]:
        """The keys of the projects that the client's scopes name."""
        return projects_of(self.scopes)


def create_client(connection: Connection, name: str, scopes: tuple[str, ...]) -> NewClient:
    """Create a client with a random secret of 32 bytes (less 1.3 bits, see :func:`_random`), and store the SHA-256 of
    the secret.

    A slow hash would not make so random a secret safer, and would let anybody use up the CPU by wrong secrets.
    """
    client_id, secret = _random(18), _random(32)
    row = {"id": client_id, "name": name, "secret_hash": digest_of(secret), "scopes": list(scopes)}
    connection.execute(_INSERT, row)
    return NewClient(client_id, secret, name, scopes)


def _random(size: int) -> str:
    """A text made of ``size`` random bytes. It has no hyphens, because on a command line a text with a leading hyphen
    would be an option; that costs a secret 1.3 bits on average."""
    return secrets.token_urlsafe(size).replace("-", "_")


def ensure_client(connection: Connection, client_id: str) -> Client:
    """Return the client with an id, even if it is revoked. If no client has the id, create one without scopes.

    The created client cannot authenticate itself: random bytes are stored as the hash of its secret, and nobody knows a
    secret with this hash.

    The command ``token`` calls this function for the client :data:`COMMAND_LINE`, to which the tokens of the command
    belong. The command issues these tokens itself, so the client needs no secret and no scopes.
    """
    row = {"id": client_id, "name": client_id, "secret_hash": secrets.token_bytes(32), "scopes": list[str]()}
    connection.execute(_INSERT_IF_MISSING, row)
    return _stored(connection, client_id)


def has_clients(connection: Connection) -> bool:
    """Whether any client is stored, even a revoked one. The client :data:`COMMAND_LINE` does not count.

    ``serve`` creates the demo client if the database has no client yet. The command ``token`` may have created the
    client :data:`COMMAND_LINE` before the first ``serve``. If this client counted, ``serve`` would create no demo
    client.
    """
    return connection.execute(_ANY_EXISTS, {"command_line": COMMAND_LINE}).fetchone() == (True,)


def find_client(connection: Connection, name: str, scopes: tuple[str, ...]) -> str | None:
    """The id of the client with this name and with exactly these scopes in this order; None if there is none. Revoked
    clients do not count; of several others the oldest is taken. ``serve`` calls this to find the demo client of an
    earlier start."""
    row = connection.execute(_FIND, {"name": name, "scopes": list(scopes)}).fetchone()
    return None if row is None else row[0]


def authenticate_client(connection: Connection, client_id: str, secret: str) -> Client | None:
    """The client with this id and secret; None if the id is unknown, the secret is wrong, or the client is revoked.

    A timing attack does not find the secret. PostgreSQL compares the hash of the given secret with the stored hash, and
    the time of this comparison tells at most how many of their first bytes agree. The first bytes of the stored hash do
    not help to guess the secret, because the secret is random.
    """
    row = connection.execute(_SELECT_AUTHENTICATED, {"id": client_id, "secret_hash": digest_of(secret)}).fetchone()
    return None if row is None else _client(row)


def list_clients(connection: Connection) -> list[Client]:
    """All clients, also revoked ones, the oldest first."""
    return [_client(row) for row in connection.execute(_SELECT_ALL).fetchall()]


def revoke_client(connection: Connection, client_id: str) -> Client:
    """Revoke a client, and so all its tokens. If it is already revoked, the time of its revocation stays.

    :raises UnknownClient: if there is no such client.
    """
    connection.execute(_REVOKE, {"id": client_id})
    return _stored(connection, client_id)


def remove_client(connection: Connection, client_id: str) -> None:
    """Delete a client if there is one with this id. Its tokens stay stored, but are refused like those of a
    revoked client."""
    connection.execute(_DELETE, {"id": client_id})


def _stored(connection: Connection, client_id: str) -> Client:
    """The client with an id, also if it is revoked. Raises UnknownClient if there is none."""
    row = connection.execute(_SELECT_BY_ID, {"id": client_id}).fetchone()
    if row is None:
        raise UnknownClient(f"There is no client {client_id!r}.")
    return _client(row)


def _client(row: tuple[Any, ...]) -> Client:
    """The client of a row."""
    client_id, name, scopes, created_at, revoked_at = row
    return Client(client_id, name, tuple(scopes), created_at, revoked_at)
