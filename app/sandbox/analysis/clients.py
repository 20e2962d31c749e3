"""What is remembered of a client: the requests of one project with the same credentials and the same User-Agent.

Their order is that of their arrival, over whatever connections: runtimes alternate between connections, or open one for
each request. Requests that overlap may come from several threads, so a sequence is judged only while none of the
client's requests is under way beside another (:meth:`Client.may_follow`).

The requests of threads need not overlap, but their connections tell. A program that sends one request after the other
opens no connection before it has the answer on the one before, and needs at most two: Node.js takes turns. So a request
counts as one beside others if its connection was opened before the last answer, or while two others were idle; and as
long as a client has more than two open connections, only requests on the same one are a sequence.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from app.http.hangups import has_hung_up
from app.sandbox.analysis.look import TOKEN_OPERATION, Look
from app.sandbox.analysis.recovery import Chains
from app.sandbox.journal.entry import Entry

GRANTS_REMEMBERED = 3
"""Tokens in a row, each used once, from which on they are a finding."""

_QUIET_S = 1.0
"""So long after two requests have overlapped, the client is taken for one with several threads."""

_PATIENCE_S = 0.05
"""A client that gives up sooner is taken for one that sends requests beside one another. It is looked no more often:
to look at the connections of all requests under way with each request took 5 % of a get on 16 connections."""

_IDLE_S = 3.0
"""Clients give up connections that were idle for longer, by their own rules: some keep them for 4 s only."""

_REMEMBERED = 200
"""Failures of so many calls, and of so many aims."""

_OTHERS = 1
"""Open connections that a program with one thread has at most beside the one that it uses."""


@dataclass(slots=True)
class Grant:
    """A token that was issued.

    :param asked: the scope that was asked for.
    """

    request: Look
    lifetime_s: float
    asked: str
    uses: int = 0
    """Requests before the next token."""
    was_refused: bool = False
    """Whether a request was 401 or 403 since."""


@dataclass(slots=True)
class Page:
    """A page of the largest size."""

    number: int
    ids: frozenset[str]
    used: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Before:
    """What is known for certain of the client before a request. All is None if it may have several threads.

    :param same: the same request, which the client sent before, if it failed.
    :param aim: what the client sent before for the same aim, if it failed.
    :param last: the request before.
    :param grants: tokens in a row, the newest last.
    :param new_connections: new connections in a row, this one included.
    """

    same: Look | None = None
    aim: Look | None = None
    last: Look | None = None
    grants: tuple[Grant, ...] = ()
    new_connections: int = 0


class Client:
    """The requests of one client so far."""

    def __init__(self) -> None:
        self.chains = Chains()
        self.page: Page | None = None
        """The last page of the largest size, while the requests after it use single ids of it."""
        self.single_pages = 0
        """Such pages in a row, of each of which one result was read."""
        self._idle: dict[int, Any] = {}
        """The sockets of its connections on which nothing is under way, by their numbers; some may be closed by now."""
        self._under_way: dict[int, Entry] = {}
        self._looked_at = float("-inf")
        """When it was last looked which of these are given up."""
        self._overlapped_at = float("-inf")
        self._last: Look | None = None
        self._calls: dict[bytes, Look] = {}
        """The last request of each call, if it failed."""
        self._aims: dict[bytes, Look] = {}
        """The same of each aim."""
        self._grants: deque[Grant] = deque(maxlen=GRANTS_REMEMBERED)
        self._new_connections = 0

    def begin(self, entry: Entry) -> list[Entry]:
        """Note a request that has arrived.

        :return: those before it whose answer the client does not wait for any more: it has closed their connections.
        """
        gone: list[Entry] = []
        patient_since = entry.arrived_at - _PATIENCE_S
        if self._looked_at <= patient_since:
            self._looked_at = entry.arrived_at
            old = [each for each in self._under_way.values() if each.arrived_at <= patient_since]
            gone = [each for each in old if has_hung_up(each.client)]
        for each in gone:
            each.client_gone = True
            del self._under_way[each.number]
        for each in self._under_way.values():
            each.is_beside = entry.is_beside = True
        self._under_way[entry.number] = entry
        if entry.connection is not None:
            number, request = entry.connection
            self._idle.pop(number, None)
            if request == 1:
                self._look_at_others(entry)
        return gone

    def _look_at_others(self, entry: Entry) -> None:
        """Count a request as one beside others if its new connection shows several threads."""
        last = self._last
        if last is not None and not last.is_lost and entry.opened_at is not None:
            entry.is_beside |= entry.opened_at <= last.entry.answered_at
        self._idle = {each: client for each, client in self._idle.items() if _is_open(client)}
        entry.is_beside |= len(self._idle) > _OTHERS

    def end(self, entry: Entry) -> None:
        """Note that a request has ended."""
        self._under_way.pop(entry.number, None)
        if entry.connection is not None and entry.client is not None:
            self._idle[entry.connection[0]] = entry.client
        if entry.is_beside:
            self._overlapped_at = max(self._overlapped_at, entry.ended_at)

    def may_follow(self, look: Look, before: Look) -> bool:
        """Whether the same thread has sent a request and an earlier one, for certain."""
        # Shortly after two requests have overlapped, others may come from the same threads.
        if look.entry.is_beside or self._overlapped_at >= before.began - _QUIET_S:
            return False
        if before.connection == look.connection:
            return True
        others = sum(each != look.connection and _is_open(client) for each, client in self._idle.items())
        return others <= _OTHERS

    def before(self, look: Look) -> Before:
        """What is known of the client before a request that has ended."""
        new_connections = self._connections_in_a_row(look)
        if look.entry.is_beside:
            return Before(new_connections=new_connections)

        def certain(before: Look | None) -> Look | None:
            is_certain = before is not None and self.may_follow(look, before) and look.is_reaction_to(before)
            return before if is_certain else None

        return Before(
            certain(self._calls.get(look.call)) if self._calls else None,
            certain(self._aims.get(look.aim)) if self._aims else None,
            certain(self._last),
            tuple(each for each in self._grants if self.may_follow(look, each.request)) if is_grant(look) else (),
            new_connections,
        )

    def remember(self, look: Look, before: Before) -> None:
        """Remember a request.

        :param before: what was known before it.
        """
        self._last = look
        self._new_connections = before.new_connections
        if look.has_failed or self._calls or self._aims:
            _remember(self._calls, look.call, look)
            _remember(self._aims, look.aim, look)
        if is_grant(look):
            answer = look.answer_json
            lifetime_s = float(answer.get("expires_in", 0)) if isinstance(answer, dict) else 0.0
            self._grants.append(Grant(look, lifetime_s, scope_asked(look)))
        elif self._grants and look.is_resource:
            self._grants[-1].uses += 1
            if look.status in (401, 403):
                self._grants[-1].was_refused = True
        if look.has_failed:
            look.drop_texts()

    def _connections_in_a_row(self, look: Look) -> int:
        """New connections in a row, each opened although the one before could be used."""
        last, opened_at = self._last, look.entry.opened_at
        if not look.is_first_on_connection:
            return 0
        if (
            last is None
            or not self.may_follow(look, last)
            or last.entry.answered_at > (look.began if opened_at is None else opened_at)
            or look.began - last.entry.answered_at >= _IDLE_S
            or last.has_failed
            or not last.keeps_connection
            or not look.keeps_connection
        ):
            return 1
        return self._new_connections + 1


def _is_open(client: Any) -> bool:
    return client.fileno() >= 0 and not has_hung_up(client)


def _remember(remembered: dict[bytes, Look], key: bytes, look: Look) -> None:
    """Remember the last request of a key if it failed; of too many, forget the one that was met longest ago."""
    remembered.pop(key, None)
    if look.has_failed:
        remembered[key] = look
        if len(remembered) > _REMEMBERED:
            del remembered[next(iter(remembered))]


def is_grant(look: Look) -> bool:
    """Whether a token was issued, and the client got it."""
    return look.operation == TOKEN_OPERATION and look.status == 200 and not look.is_lost and not look.is_ordered


def scope_asked(look: Look) -> str:
    """The scope that a token was asked for, the same whatever the order of its words."""
    return " ".join(sorted(" ".join(look.values("scope")).split()))
