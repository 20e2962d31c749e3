"""The clock of a request, and the source of the ids that it makes.

The service gets every time that it compares or stores, and every id that it makes, from a :class:`ClockAndIds`, so that
tests of clients can run with another clock. The clock is :class:`RealClockAndIds`, unless an extension replaces it.
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
        """The present time in seconds since 1970, for the validity of tokens."""
        ...

    def write_time(self) -> datetime | None:
        """The time of a write; None for the time of the database's clock, which all processes share."""
        ...

    def resource_id(self, connection: Connection, project_key: str) -> UUID:
        """Make the id of a new resource, a UUIDv7: new rows then go to the end of the primary key's index.

        :param connection: the connection that will write the resource.
        """
        ...

    def token_id(self) -> str:
        """Make the id of a new token."""
        ...

    def accepts_token(self, token_id: str | None) -> bool:
        """Whether a token may have this id. Called when a token is verified, in addition to the other checks."""
        ...

    def kept_until(self, expires_at: float) -> float:
        """The real time from which every token that expires at ``expires_at`` by this clock is refused."""
        ...


class Clocks(Protocol):
    """The clocks and sources of ids of all projects and all API clients."""

    def of_project(self, project_key: str) -> ClockAndIds:
        """The clock and the source of ids for requests to a project."""
        ...

    def of_client(self, client_id: str) -> ClockAndIds:
        """The clock by which the tokens of a client are issued and expire, and the source of their ids."""
        ...


_PROJECT_TOKEN_ID = re.compile(f"e[0-9]{{1,18}}-{UUID_PATTERN}", re.ASCII)


def project_token_id(epoch: int) -> str:
    """A random id for a token of a project that has its own clock. All other tokens have ids of a different form.

    Such a token is valid only by the clock of its project. When the project has been removed, the service recognises
    the id and refuses the token. Otherwise a token from a clock that was far ahead would be accepted for years.

    :param epoch: the project's epoch, a number that the id contains.
    """
    return f"e{epoch}-{uuid4()}"


class RealClockAndIds:
    """Real time and random ids."""

    def time(self) -> float:
        """The present time of this machine, in seconds since 1970."""
        return time.time()

    def write_time(self) -> datetime | None:
        """None: the time of a write is that of the database's clock."""
        return None

    def resource_id(self, connection: Connection, project_key: str) -> UUID:  # noqa: ARG002 -- signature of ClockAndIds
        """Make a UUIDv7. It is greater than all ids that this process made before."""
        return uuid7()

    def token_id(self) -> str:
        """Make a random id."""
        return str(uuid4())

    def accepts_token(self, token_id: str | None) -> bool:
        """False for a token of a project with its own clock, because only the clock of that project accepts it."""
        return token_id is None or _PROJECT_TOKEN_ID.fullmatch(token_id) is None

    def kept_until(self, expires_at: float) -> float:
        """Return ``expires_at``, because this is the real clock."""
        return expires_at


REAL_CLOCK_AND_IDS = RealClockAndIds()


class RealClocks:
    """Real time and random ids for all projects and clients."""

    def of_project(self, project_key: str) -> ClockAndIds:  # noqa: ARG002 -- signature of Clocks
        """Real time and random ids."""
        return REAL_CLOCK_AND_IDS

    def of_client(self, client_id: str) -> ClockAndIds:  # noqa: ARG002 -- signature of Clocks
        """Real time and random ids."""
        return REAL_CLOCK_AND_IDS


REAL_CLOCKS: Clocks = RealClocks()
