"""A request to a sandbox project with its answer, as it is noted while it is served."""

import itertools
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.identity.verification import VerifiedToken

BODY_BYTES_KEPT = 64 * 1024

BODY_BYTES_NOTED = BODY_BYTES_KEPT + 4096
"""With what follows, so that a secret is seen whole that the end of the kept part cuts in two."""

Headers = tuple[tuple[str, str], ...]

_places = itertools.count(secrets.randbits(40) << 20)
"""Rising in a process, and different from those of others."""


@dataclass(slots=True)
class HttpMessage:
    """A request or an answer, as it went over the wire.

    :param headers: pairs, or lines as they were sent.
    """

    headers: Headers | bytes
    body: bytes
    size: int | None
    """Bytes of the whole body; None if it was not read to its end."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request to a sandbox project, and its answer once that is decided."""

    project_key: str
    owner: str
    """The project's client, which tells it from a later project with the same key."""
    run_id: UUID | None = None
    """Of the run that the project belongs to."""
    secret_hash: bytes
    arrived_at: float
    """In seconds since 1970."""
    place: int = field(default_factory=lambda: next(_places))
    """Distinguishes requests that arrive at the same time."""
    client_id: str | None
    operation_id: str | None
    method: str
    target: str
    http_version: str
    request: HttpMessage
    token: VerifiedToken | None
    connection: tuple[int, int] | None
    """The number of the connection, and that of the request on it."""
    opened_at: float | None = None
    """When the connection was accepted, in seconds since 1970."""
    correlation_id: str
    project_time: float | None
    """The time of the project's clock; None if it shows real time."""
    answered_s: float | None = None
    """Seconds from the arrival until the answer was decided; None: it is not yet."""
    ended_s: float | None = None
    """The same until the answer had been sent, or the connection had ended; None: it is under way."""
    status: int | None = None
    """None: there was no answer."""
    answer: HttpMessage | None = None
    """None: there was none."""
    statements: int = 0
    sql_s: float = 0.0
    rule: Mapping[str, Any] | None = None
    client_gone: bool = False
    """Whether the client had closed the connection before it was answered."""
    changes: int = 1
    """How often it has changed since it arrived; a writer compares it with :attr:`written`."""
    written: int = 0
    is_counted: bool = False
    """Whether it was counted in its run."""

    @property
    def bytes(self) -> int:
        """About as many as it keeps in memory."""
        return len(self.request.body) + (0 if self.answer is None else len(self.answer.body)) + 1024
