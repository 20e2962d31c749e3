"""What an observer of a journal remembers of the requests so far.

Two requests with the same content may come from two programs, or from two threads of one, and nothing is wrong with
that. So what is said of a sequence is said of the requests on one connection, which come one after the other, while
their program has no other request under way; see :func:`Program.is_alone`.
"""

from collections import deque
from dataclasses import dataclass, field

from app.sandbox.journal.entries import TOKEN_OPERATION, Entry, Past

GRANTS_REMEMBERED = 3
"""Tokens in a row, each used once, from which on they are a finding."""

_SPANS_REMEMBERED = 200
_CALLS_REMEMBERED = 200


@dataclass(slots=True)
class Line:
    """What is remembered of a connection."""

    number: int
    last: Past | None = None
    calls: dict[bytes, Past] = field(default_factory=dict[bytes, Past])
    """The last request of each :attr:`Entry.call`."""
    grants: deque["Grant"] = field(default_factory=lambda: deque["Grant"](maxlen=GRANTS_REMEMBERED))
    """The last tokens that were issued."""
    page: "Page | None" = None
    """The last page of the largest size, while the requests after it use single ids of it."""
    single_pages: int = 0
    """Such pages in a row, of each of which one result was read."""

    def remember(self, entry: Entry, past: Past) -> None:
        """Remember a request."""
        self.last = past
        remember(self.calls, past.call, past, _CALLS_REMEMBERED)
        if is_grant(entry):
            lifetime_s = float(entry.answer_json.get("expires_in", 0)) if isinstance(entry.answer_json, dict) else 0.0
            self.grants.append(Grant(entry.began, entry.project_time, lifetime_s, scope_asked(entry)))
        elif self.grants and entry.operation != TOKEN_OPERATION:
            self.grants[-1].uses += 1
            if entry.status in (401, 403):
                self.grants[-1].was_refused = True


@dataclass(slots=True)
class Program:
    """What is remembered of all requests with one User-Agent: those of one program, or of several that are alike."""

    spans: deque[tuple[int | None, float, float]] = field(
        default_factory=lambda: deque[tuple[int | None, float, float]](maxlen=_SPANS_REMEMBERED)
    )
    """The connection, the beginning and the end of the last requests, in the order of their ends."""
    last: Past | None = None
    new_connections: int = 0
    """In a row, each for one request."""
    lost: dict[bytes, Past] = field(default_factory=dict[bytes, Past])
    """The last request of each call, if its answer was lost."""

    def is_alone(self, connections: tuple[int | None, ...], since: float, until: float) -> bool:
        """Whether none of the program's requests was under way within some time on other connections than some."""
        for connection, began, ended in reversed(self.spans):
            if ended <= since:
                return True
            if connection not in connections and began < until:
                return False
        return len(self.spans) < _SPANS_REMEMBERED

    def remember(self, entry: Entry, past: Past) -> None:
        """Remember a request."""
        self.last = past
        self.spans.append((past.connection, past.began, past.ended))
        if past.is_lost:
            remember(self.lost, past.call, past, _CALLS_REMEMBERED)
        elif entry.status is not None:
            self.lost.pop(past.call, None)


def remember(remembered: dict[bytes, Past], key: bytes, past: Past, at_most: int) -> None:
    """Remember the last request of a key, and forget the key that was met longest ago if there are too many."""
    remembered.pop(key, None)
    remembered[key] = past
    if len(remembered) > at_most:
        del remembered[next(iter(remembered))]


@dataclass(slots=True)
class Grant:
    """A token that was issued.

    :param began: when it was asked for.
    :param at: the same by the project's clock.
    :param asked: the scope that was asked for.
    """

    began: float
    at: float
    lifetime_s: float
    asked: str
    uses: int = 0
    """Requests on the same connection before the next token."""
    was_refused: bool = False
    """Whether a request was 401 or 403 since."""


@dataclass(slots=True)
class Page:
    """A page of the largest size."""

    number: int
    ids: frozenset[str]
    used: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Before:
    """What is known for certain of the client before a request.

    :param same: the same request, which the client sent before on this connection, or on one that has ended with it.
    :param last: the request before on this connection. Both are None if another program or thread may have sent the
        request, or the one before.
    :param grants: tokens in a row on this connection, the newest last.
    :param new_connections: new connections in a row, this one included.
    """

    same: Past | None = None
    last: Past | None = None
    grants: tuple[Grant, ...] = ()
    new_connections: int = 0


def is_grant(entry: Entry) -> bool:
    """Whether a token was issued, and the client got it."""
    return entry.operation == TOKEN_OPERATION and entry.status == 200 and not entry.is_lost and not entry.is_ordered


def scope_asked(entry: Entry) -> str:
    """The scope that a token was asked for, the same whatever the order of its words."""
    return " ".join(sorted(" ".join(entry.values("scope")).split()))
