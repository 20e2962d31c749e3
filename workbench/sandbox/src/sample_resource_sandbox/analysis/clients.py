"""The state that is kept of a client: of the requests to one project with equal credentials and an equal User-Agent.

Requests are ordered by their arrival, on whatever connections, because runtimes alternate between connections, or open
one for each request. Overlapping requests may come from several threads, so a sequence is judged only if none of the
client's requests overlaps another (:meth:`Client.may_follow`).

Requests of several threads need not overlap, but their connections show the threads. Requests on one connection are a
sequence. A program with one thread may also use several connections: it opens a connection if none is free, or takes
the free connection that it has had for the longest time. Node.js takes a connection for free only some time after its
answer, so that at high speed it alternates between two. Any other change of the connection shows a second thread.
"""

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from app.http.hangups import has_hung_up
from sample_resource_sandbox.analysis.look import LISTS, REFUSALS, TOKEN_OPERATION, Look
from sample_resource_sandbox.analysis.stories import Notes, Stories
from sample_resource_sandbox.journal.entry import Entry

NEW_CONNECTIONS = 5
"""The number of new connections in a row that is a finding."""
_REFUSED_AT_MOST = 2
"""The number of equal refusals in a row that is not yet a finding, because a test may assert a refusal."""
_SINGLE_PAGES = 3
"""The number of consecutive pages with the largest limit, each requested for one result, that is a finding."""
_WRITTEN = 200
_LASTING_S = 3600.0
"""The shortest lifetime of a token whose early renewal is a finding. Careful clients renew other tokens early."""
_TOOLS = ("curl/", "Wget/", "HTTPie/")
"""The User-Agents of programs that are started for each request, so that they cannot keep a connection or a token."""

_WHOLE_PAGE = "500"
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(f'"id":"({_UUID.pattern})"')

_QUIET_S = 1.0
"""The time after two overlapping requests for which the client counts as one with several threads."""

_PATIENCE_S = 0.05
"""The age from which a request counts as given up if its connection is closed. A younger request overlaps the next one
instead. This is also the shortest time between two checks of all connections, because checking them with each request
took 5 % of a get on 16 connections."""

_IDLE_S = 3.0
"""The time for which every client keeps an idle connection: the shortest known limit of an HTTP client is 4 s."""

_OTHERS = 1
"""The most idle connections of a program with one thread."""

_AT_ONCE_S = 0.2
"""The time after an answer in which one thread may use another connection, because the previous one is not free yet."""


@dataclass(slots=True)
class _Page:
    """A page with the largest limit, and the ids that the client has used after it."""

    number: int
    ids: frozenset[str]
    used: list[str] = field(default_factory=list[str])

    @property
    def is_single(self) -> bool:
        """Whether the client has used exactly one id after the page, and the page contains it."""
        return len(self.used) == 1 and self.used[0] in self.ids


class Client:
    """The state of one client after its requests so far.

    :param notes: records the findings about the client.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.stories = Stories(notes)
        self.written: deque[str] = deque(maxlen=_WRITTEN)
        """The last texts that the client has written to resources."""
        self._page: _Page | None = None
        """The last page with the largest limit, as long as the requests after it use single ids."""
        self._single_pages = 0
        """The number of consecutive pages with the largest limit of which the client has used one result."""
        self._idle: dict[int, Any] = {}
        """The sockets of its idle connections, by the numbers of the connections. Some may be closed by now."""
        self._main: int | None = None
        """The number of the connection that the client used when it had a free choice."""
        self._has_threads = False
        """Whether its connections have shown a second thread."""
        self._under_way: dict[int, Entry] = {}
        self._looked_at = float("-inf")
        """The time of the last check which requests under way the client has given up."""
        self._overlapped_at = float("-inf")
        self._last: Look | None = None
        self._in_row = 1
        """How often in a row the last request has been refused; 1 if it has not been repeated."""
        self._new_connections = 0
        """The number of new connections in a row."""

    def begin(self, entry: Entry) -> list[Entry]:
        """Record a request that has arrived.

        :return: the earlier requests that the client has given up, by closing their connections.
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
            self._look_at_connection(entry, *entry.connection)
        return gone

    def _look_at_connection(self, entry: Entry, number: int, request: int) -> None:
        """Decide by the connection of a request whether another thread of the client has sent the request."""
        last = self._last
        self._idle.pop(number, None)
        if last is None or number == self._main:
            return
        if request == 1:
            self._idle = {each: client for each, client in self._idle.items() if _is_open(client)}
            if len(self._idle) > _OTHERS:
                entry.is_apart = self._has_threads = True
        if entry.arrived_at - last.entry.answered_at <= _AT_ONCE_S:
            return
        if self._main in self._idle and _is_open(self._idle[self._main]):
            entry.is_apart = self._has_threads = True
        elif number != last.connection:
            is_older = entry.opened_at is not None and entry.opened_at <= last.entry.answered_at
            entry.is_apart |= is_older or (self._main is None and bool(self._idle))
        self._main = number

    def end(self, entry: Entry) -> None:
        """Record that a request has ended."""
        self._under_way.pop(entry.number, None)
        if entry.connection is not None and entry.client is not None:
            self._idle[entry.connection[0]] = entry.client
        if entry.is_beside:
            self._overlapped_at = max(self._overlapped_at, entry.ended_at)

    def may_follow(self, look: Look, before: Look) -> bool:
        """Whether one thread has certainly sent both a request and an earlier one."""
        # Shortly after two requests have overlapped, requests may come from either thread.
        if look.entry.is_beside or self._overlapped_at >= before.began - _QUIET_S:
            return False
        if before.connection == look.connection:
            return True
        return not look.entry.is_apart and not (
            self._has_threads
            and any(each != look.connection and _is_open(client) for each, client in self._idle.items())
        )

    def follow(self, look: Look) -> None:
        """Judge the sequence of the client's requests after one of them has ended."""
        last = self._last
        is_certain = last is not None and self.may_follow(look, last) and look.is_reaction_to(last)
        self._follow_connections(look)
        self._follow_refused(look, last if is_certain else None)
        self._follow_page(look, is_certain=is_certain)
        self.stories.follow(look, self.may_follow)
        self._last = look
        self.written.extend(look.texts())
        look.drop_texts()

    def _follow_connections(self, look: Look) -> None:
        """Count new connections in a row that were opened although the previous connection was free."""
        last, opened_at = self._last, look.entry.opened_at
        if not look.is_first_on_connection or look.operation == TOKEN_OPERATION or look.program.startswith(_TOOLS):
            self._new_connections = 0
        elif (
            last is None
            or not self.may_follow(look, last)
            or last.entry.answered_at > (look.began if opened_at is None else opened_at)
            or look.began - last.entry.answered_at >= _IDLE_S
            or last.has_failed
            or not last.keeps_connection
            or not look.keeps_connection
        ):
            self._new_connections = 1
        else:
            self._new_connections += 1
        if self._new_connections >= NEW_CONNECTIONS:
            detail = f"It is new connection {self._new_connections} in a row, each for one request."
            self._notes.find(look.number, "connectionForEachRequest", detail)

    def _follow_refused(self, look: Look, last: Look | None) -> None:
        """Count how often in a row an unchanged request gets a refusal that a retry cannot avoid."""
        is_again = (
            last is not None
            and look.status == last.status
            and look.status in REFUSALS
            and not (look.is_ordered or last.is_ordered)
            and (look.call, look.header_hash) == (last.call, last.header_hash)
        )
        self._in_row = self._in_row + 1 if is_again else 1
        if self._in_row > _REFUSED_AT_MOST and last is not None:
            detail = f"Request {last.number} was the same, and was {last.status}."
            self._notes.find(look.number, "refusedRequestRepeated", detail)

    def _follow_page(self, look: Look, *, is_certain: bool) -> None:
        page = self._page
        if page is not None:
            used = _UUID.search(look.decoded_path)
            if used is not None and (used[0] in page.ids or page.used):
                # A write may depend on the whole page, so its id does not count as a single use.
                page.used.append(used[0] if look.method == "GET" and is_certain else "")
                return
            self._single_pages = self._single_pages + 1 if page.is_single else 0
            self._page = None
            if self._single_pages >= _SINGLE_PAGES:
                detail = f"Of its {len(page.ids)} results only {page.used[0]} was read, and of those before too."
                self._notes.find(page.number, "pageForOneResult", detail)
        if look.operation in LISTS and look.status == 200 and _WHOLE_PAGE in look.values("limit"):
            ids = frozenset(_ID.findall(look.answer_text))
            self._page = _Page(look.number, ids) if len(ids) > 1 else None


def _is_open(client: Any) -> bool:
    return client.fileno() >= 0 and not has_hung_up(client)


@dataclass(slots=True)
class _Grant:
    """An issued token, and its use.

    :param asked: the requested scope.
    """

    look: Look
    client: Client
    token: str
    lifetime_s: float
    asked: str
    programs: set[str] = field(default_factory=set[str])
    """The programs that have sent the token."""
    uses: int = 0
    used_at: float = 0.0
    """The time when it was last sent."""
    is_doubtful: bool = False
    """Whether it was refused or revoked, or sent in overlapping requests."""


class Tokens:
    """The last tokens that were issued to one API client, for all programs with its credentials."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._grants: deque[_Grant] = deque(maxlen=2)

    def follow(self, client: Client, look: Look) -> None:
        """Judge the use of tokens, with the next request of the client."""
        if look.operation == TOKEN_OPERATION:
            if look.status == 200 and not look.is_lost and not look.is_ordered and isinstance(look.answer_json, dict):
                self._follow_grant(client, look, look.answer_json)
            return
        token = look.authorization.rpartition(" ")[2]
        for grant in self._grants:
            if grant.token == token:
                grant.programs.add(look.program)
                grant.uses += 1
                grant.used_at = look.began
                grant.is_doubtful |= look.entry.is_beside or look.status in (401, 403)

    def revoke(self, token: str) -> None:
        """Record that the client has revoked a token, so that it needs another one."""
        for grant in self._grants:
            grant.is_doubtful |= grant.token == token

    def _follow_grant(self, client: Client, look: Look, answer: dict[str, Any]) -> None:
        asked = " ".join(sorted(" ".join(look.values("scope")).split()))
        grant = _Grant(look, client, str(answer.get("access_token")), float(answer.get("expires_in", 0)), asked)
        grants = [*self._grants, grant]
        self._grants.append(grant)
        programs = set[str]().union(*(each.programs for each in grants))
        if len(grants) == 3 and len(programs) == 1 and not look.program.startswith(_TOOLS):
            first, second, _ = grants
            if _is_needless(first, second) and _is_needless(second, grant):
                once = first.uses == second.uses == 1
                id_ = "tokenForEachRequest" if once else "tokenRenewedEarly"
                times = "once each" if once else f"{first.uses} and {second.uses} times"
                detail = f"The two tokens before were used {times}, and given up before half of their time was over."
                self._notes.find(look.number, id_, detail)


def _is_needless(grant: _Grant, after: _Grant) -> bool:
    """Whether a token was still valid for at least half of its lifetime when the client got the next one."""
    left_s = grant.lifetime_s - (after.look.project_time - grant.look.project_time)
    return (
        grant.client is after.client
        and after.client.may_follow(after.look, grant.look)
        and (grant.asked, grant.is_doubtful) == (after.asked, False)
        and grant.uses > 0
        and grant.used_at <= after.look.began
        and grant.lifetime_s >= _LASTING_S
        and left_s >= grant.lifetime_s / 2
    )
