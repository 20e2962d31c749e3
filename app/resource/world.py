"""Times and ids: where a request takes them from.

The service asks a :class:`World` for every time that it compares or stores and for every id that it makes, so that
tests of clients can run with another clock. :class:`RealWorld` is what requests get, unless an extension has others.
"""

import re
import time
from datetime import datetime
from typing import Protocol
from uuid import UUID, uuid4

from uuid_utils.compat import uuid7

from app.database.connection import Connection
from app.values.patterns import UUID_PATTERN


class World(Protocol):
    """A clock and a source of ids."""

    def time(self) -> float:
        """Now, in seconds since 1970, for the validity of tokens."""
        ...

    def write_time(self) -> datetime | None:
        """The time of a write; None for the clock of the database, which all processes share."""
        ...

    def resource_id(self, connection: Connection, project_key: str) -> UUID:
        """The id of a new resource, a UUIDv7.

        :param connection: the connection that will write the resource.
        """
        ...

    def token_id(self) -> str:
        """The id of a new token."""
        ...

    def accepts_token(self, token_id: str | None) -> bool:
        """Whether a token with this id counts, beside everything else that its verification asks."""
        ...

    def kept_until(self, expires_at: float) -> float:
        """A real time from which on no token is accepted that expires at a time of this world."""
        ...


class Worlds(Protocol):
    """The world of each project and of each API client."""

    def of_project(self, project_key: str) -> World:
        """The world in which requests to a project are carried out."""
        ...

    def of_client(self, client_id: str) -> World:
        """The world in which the tokens of a client are issued and expire."""
        ...


_PROJECT_TOKEN_ID = re.compile(f"e[0-9]{{1,18}}-{UUID_PATTERN}", re.ASCII)


def project_token_id(epoch: int) -> str:
    """A random id for a token of a project with a world of its own, which no other token can have.

    Such a token counts in the world of its project only. The service refuses it after the project was removed, however
    far ahead the project's clock was.

    :param epoch: the project's epoch of tokens.
    """
    return f"e{epoch}-{uuid4()}"


class RealWorld:
    """Real time and random ids."""

    def time(self) -> float:
        """The time of this machine."""
        return time.time()

    def write_time(self) -> datetime | None:
        """The database's time."""
        return None

    def resource_id(self, connection: Connection, project_key: str) -> UUID:  # noqa: ARG002 -- World's signature
        """A random id; ids of one process rise."""
        return uuid7()

    def token_id(self) -> str:
        """A random id."""
        return str(uuid4())

    def accepts_token(self, token_id: str | None) -> bool:
        """Whether the token is of no project with a world of its own: the clock of a removed project is gone, too."""
        return token_id is None or _PROJECT_TOKEN_ID.fullmatch(token_id) is None

    def kept_until(self, expires_at: float) -> float:
        """The same time."""
        return expires_at


REAL_WORLD = RealWorld()


class OneWorld:
    """The real world for everybody."""

    def of_project(self, project_key: str) -> World:  # noqa: ARG002 -- Worlds' signature
        """The real one."""
        return REAL_WORLD

    def of_client(self, client_id: str) -> World:  # noqa: ARG002 -- Worlds' signature
        """The real one."""
        return REAL_WORLD


ONE_WORLD: Worlds = OneWorld()
