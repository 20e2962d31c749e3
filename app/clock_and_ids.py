"""The clock and the source of ids of a request.

The service asks a :class:`ClockAndIds` for every time that it compares or stores and for every id that it makes, so
that tests of clients can run with another clock. Requests get :class:`RealClockAndIds`, unless an extension has others.
"""

import re
import time
from datetime import datetime
from typing import Protocol
from uuid import UUID, uuid4

from uuid_utils.compat import uuid7

from app.database.connection import Connection
from app.values.patterns import UUID_PATTERN


class ClockAndIds(Protocol):
    """A clock and a source of ids."""

    def time(self) -> float:
        """Now, in seconds since 1970, for the validity of tokens."""
        ...

    def write_time(self) -> datetime | None:
        """The time of a write; None for the clock of the database, which all processes share."""
        ...

    def resource_id(self, connection: Connection, project_key: str) -> UUID:
        """The id of a new resource, a UUIDv7: new rows then go to the end of the primary key's index.

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
        """A real time from which on no token is accepted that expires at a time of this clock."""
        ...


class Clocks(Protocol):
    """The clock and ids of each project and of each API client."""

    def of_project(self, project_key: str) -> ClockAndIds:
        """The clock and ids of requests to a project."""
        ...

    def of_client(self, client_id: str) -> ClockAndIds:
        """The clock by which the tokens of a client are issued and expire, and the ids that they get."""
        ...


_PROJECT_TOKEN_ID = re.compile(f"e[0-9]{{1,18}}-{UUID_PATTERN}", re.ASCII)


def project_token_id(epoch: int) -> str:
    """A random id for a token of a project with a clock of its own, which no other token can have.

    Such a token counts by the clock of its project only. The service refuses it after the project was removed, however
    far ahead the project's clock was.

    :param epoch: the project's epoch of tokens.
    """
    return f"e{epoch}-{uuid4()}"


class RealClockAndIds:
    """Real time and random ids."""

    def time(self) -> float:
        """The time of this machine."""
        return time.time()

    def write_time(self) -> datetime | None:
        """The database's time."""
        return None

    def resource_id(self, connection: Connection, project_key: str) -> UUID:  # noqa: ARG002 -- signature of ClockAndIds
        """A random id; ids of one process rise."""
        return uuid7()

    def token_id(self) -> str:
        """A random id."""
        return str(uuid4())

    def accepts_token(self, token_id: str | None) -> bool:
        """Whether the token is of no project with a clock of its own: the clock of a removed project is gone, too."""
        return token_id is None or _PROJECT_TOKEN_ID.fullmatch(token_id) is None

    def kept_until(self, expires_at: float) -> float:
        """The same time."""
        return expires_at


REAL_CLOCK_AND_IDS = RealClockAndIds()


class RealClocks:
    """Real time and random ids for everybody."""

    def of_project(self, project_key: str) -> ClockAndIds:  # noqa: ARG002 -- signature of Clocks
        """The real one."""
        return REAL_CLOCK_AND_IDS

    def of_client(self, client_id: str) -> ClockAndIds:  # noqa: ARG002 -- signature of Clocks
        """The real one."""
        return REAL_CLOCK_AND_IDS


REAL_CLOCKS: Clocks = RealClocks()
