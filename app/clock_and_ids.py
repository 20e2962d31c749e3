"""The clock of a request, and the source of the ids of the resources that it creates.

The times of writes, the issue and the expiry of tokens, and the ids of resources come from a :class:`ClockAndIds`, so
that tests of clients can run with another clock. It is :class:`RealClockAndIds`, unless an extension replaces it.
"""

import time
from datetime import datetime
from typing import Protocol
from uuid import UUID

from uuid_utils.compat import uuid7

from app.database.connection import Connection


class ClockAndIds(Protocol):
    """A clock and a source of ids."""

    def time(self) -> float:
        """The present time in seconds since 1970, for the validity of tokens."""
        ...

    def write_time(self) -> datetime | None:
        """The time of a write; None for the time of the database's clock, which all processes share."""
        ...

    def resource_id(self, connection: Connection, project_key: str) -> UUID:
        """Make the id of a new resource. It is a UUIDv7, which begins with a time: as time passes, new rows usually go
        to the end of the project's part of the primary key's index.

        :param connection: the connection that will write the resource. An extension's source of ids may need it,
            because it may keep a counter in the database.
        """
        ...

    def kept_until(self, expires_at: float) -> float:
        """Return when a token's row may be deleted, in seconds since 1970 by the database's clock.

        The row is kept for some time after the token's expiry, so that a client with the expired token is told that the
        token has expired. A statement compares the result with ``now()``, the time of the database's clock. The clock
        of this object may show another time, if an extension has set it. The result must then still be a time of the
        database's clock.

        :param expires_at: the token's expiry, in seconds since 1970 by the clock of this object.
        """
        ...


class Clocks(Protocol):
    """The clocks and sources of ids of all projects and all API clients."""

    def of_project(self, project_key: str) -> ClockAndIds:
        """The clock and the source of ids for requests to a project."""
        ...

    def of_client(self, client_id: str) -> ClockAndIds:
        """The clock by which the tokens of a client are issued and expire."""
        ...


_KEPT_FOR_S = 86_400
"""The seconds for which a token is kept after its expiry, so that its client is told that it has expired."""


class RealClockAndIds:
    """Real time and UUIDv7s."""

    def time(self) -> float:
        """The present time of this machine, in seconds since 1970."""
        return time.time()

    def write_time(self) -> datetime | None:
        """None: the time of a write is that of the database's clock."""
        return None

    def resource_id(self, connection: Connection, project_key: str) -> UUID:  # noqa: ARG002 -- signature of ClockAndIds
        """Make a UUIDv7. It is greater than all ids that this process made before."""
        return uuid7()

    def kept_until(self, expires_at: float) -> float:
        """Return the time one day after the token's expiry. The token's row may be deleted from then on.

        The result needs no conversion to the database's clock, because both clocks show the real time.
        """
        return expires_at + _KEPT_FOR_S


REAL_CLOCK_AND_IDS = RealClockAndIds()


class RealClocks:
    """Real time and UUIDv7s for all projects and clients."""

    def of_project(self, project_key: str) -> ClockAndIds:  # noqa: ARG002 -- signature of Clocks
        """Real time and UUIDv7s."""
        return REAL_CLOCK_AND_IDS

    def of_client(self, client_id: str) -> ClockAndIds:  # noqa: ARG002 -- signature of Clocks
        """Real time and UUIDv7s."""
        return REAL_CLOCK_AND_IDS


REAL_CLOCKS: Clocks = RealClocks()
