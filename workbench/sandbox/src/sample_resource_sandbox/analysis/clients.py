"""What is remembered of a client: the requests of one project with the same credentials and the same User-Agent.

Their order is that of their arrival, over whatever connections: runtimes alternate between connections, or open one for
each request. Requests that overlap may come from several threads, so a sequence is judged only while none of the
client's requests is under way beside another (:meth:`Client.may_follow`).

The requests of threads need not overlap, but their connections tell. Requests on one connection are a sequence. So are
those of a program that sends one request after the other on several: it opens a connection if none is free, or takes
the free one that it has had for longest. Node.js does not take the connection of the answer that has just come for
free, so it takes turns, but only at once. Any other change of the connection is that of a second thread.
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
"""New connections in a row from which on they are a finding."""
_REFUSED_AT_MOST = 2
"""So often in a row a test may assert the same refusal."""
_SINGLE_PAGES = 3
"""Whole pages in a row of which one result each is read, from which on they are a finding."""
_WRITTEN = 200
_LASTING_S = 3600.0
"""Tokens that are good for less are renewed early by careful clients."""
_TOOLS = ("curl/", "Wget/", "HTTPie/")
"""Programs that are started for each request, and can keep neither a connection nor a token."""

_WHOLE_PAGE = "500"
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(f'"id":"({_UUID.pattern})"')

_QUIET_S = 1.0
"""So long after two requests have overlapped, the client is taken for one with several threads."""

_PATIENCE_S = 0.05
"""A client that gives up sooner is taken for one that sends requests beside one another. It is looked no more often:
to look at the connections of all requests under way with each request took 5 % of a get on 16 connections."""

_IDLE_S = 3.0
"""Clients give up connections that were idle for longer, by their own rules: some keep them for 4 s only."""

_OTHERS = 1
"""Open connections that a program with one thread has at most beside the one that it uses."""

_AT_ONCE_S = 0.2
"""A request that follows the last answer sooner may come on another connection, because its own is not free yet."""


@dataclass(slots=True)
class _Page:
    """A page of the largest size."""

    number: int
    ids: frozenset[str]
    used: list[str] = field(default_factory=list[str])

    @property
    def is_single(self) -> bool:
        """Whether one of its results was read, and no more."""
        return len(self.used) == 1 and self.used[0] in self.ids


class Client:
    """The requests of one client so far.

    :param notes: where is noted what is said of it.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.stories = Stories(notes)
        self.written: deque[str] = deque(maxlen=_WRITTEN)
        """Texts that it has written to resources, the last ones."""
        self._page: _Page | None = None
        """The last page of the largest size, while the requests after it use single ids of it."""
        self._single_pages = 0
        """Such pages in a row, of each of which one result was read."""
        self._idle: dict[int, Any] = {}
        """The sockets of its connections on which nothing is under way, by their numbers; some may be closed by now."""
        self._main: int | None = None
        """The connection that it took when any was free."""
        self._has_threads = False
        """Whether its connections have shown it."""
        self._under_way: dict[int, Entry] = {}
        self._looked_at = float("-inf")
        """When it was last looked which of these are given up."""
        self._overlapped_at = float("-inf")
        self._last: Look | None = None
        self._in_row = 1
        """The last request was refused so many times in a row."""
        self._new_connections = 0
        """In a row."""

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
            self._look_at_connection(entry, *entry.connection)
        return gone

    def _look_at_connection(self, entry: Entry, number: int, request: int) -> None:
        """Say whether its connection makes a request that of another thread."""
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
        return not look.entry.is_apart and not (
            self._has_threads
            and any(each != look.connection and _is_open(client) for each, client in self._idle.items())
        )

    def follow(self, look: Look) -> None:
        """Say what is found in the order of its requests, given one that has ended."""
        last = self._last
        is_certain = last is not None and self.may_follow(look, last) and look.is_reaction_to(last)
        self._follow_connections(look)
        self._follow_refused(look, last if is_certain else None)
        self._follow_page(look, is_certain=is_certain)
        self.stories.follow(look, self.may_follow)
        self._last = look
        self.written.extend(look.texts())
        if look.has_failed:
            look.drop_texts()

    def _follow_connections(self, look: Look) -> None:
        """Count new connections in a row, each opened although the one before could be used."""
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
        """Count how often in a row a request is refused for what it is, without a change."""
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
                # What is changed may be what only a whole page shows.
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
    """A token that was issued.

    :param asked: the scope that was asked for.
    """

    look: Look
    client: Client
    token: str
    lifetime_s: float
    asked: str
    programs: set[str] = field(default_factory=set[str])
    """Those that have sent it."""
    uses: int = 0
    used_at: float = 0.0
    """When it was last sent."""
    is_doubtful: bool = False
    """Whether it was refused or revoked, or sent beside other requests."""


class Tokens:
    """The tokens that were issued to one API client, whichever programs ask for them and send them."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._grants: deque[_Grant] = deque(maxlen=2)

    def follow(self, client: Client, look: Look) -> None:
        """Go on with a request with this client's credentials."""
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
        """Note that the client has ended a token: it needs another one."""
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
    """Whether a token was good, and given up for the next one."""
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
