"""The state that is kept of a client: of the requests to one project with equal credentials and an equal User-Agent.

Requests are ordered by their arrival, on whatever connections, because runtimes alternate between connections, or open
one for each request. Overlapping requests may come from several threads, so a sequence is judged only if none of the
client's requests overlaps another (:meth:`Client.may_follow`).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sample_resource_sandbox.analysis.look import LISTS, TOKEN_OPERATION, WRITES, Look
from sample_resource_sandbox.analysis.stories import Episode, Find, Stories
from sample_resource_sandbox.connections import has_hung_up
from sample_resource_sandbox.journal.entry import Entry

NEW_CONNECTIONS = 5
"""The number of new connections in a row that is a finding."""
_REFUSED_AT_MOST = 3
"""The number of equal refusals in a row that is not yet a finding, because a test may assert a refusal."""
_WRITTEN = 200
_KNOWN = 1000
"""The most resources of which the version is kept that a client knows."""
_LASTING_S = 3600.0
"""The shortest lifetime of a token whose early renewal is a finding. Careful clients renew other tokens early."""

_QUIET_S = 5.0
"""The time after two overlapping requests for which the client counts as one with several threads."""

_PATIENCE_S = 0.01
"""The age from which a request counts as given up if its connection is closed. A younger request overlaps the next one
instead. This is also the shortest time between two checks of all connections, because checking them with each request
took 5 % of a get on 16 connections."""

_IDLE_S = 0.5
"""The time for which every client with a pool keeps an idle connection. Pools are set up to end them after a second."""


class Client:
    """The state of one client after its requests so far.

    :param find: records a finding about the client.
    :param settle: counts the outcome of a trouble.
    """

    def __init__(self, find: Find, settle: Callable[[Episode], None]) -> None:
        self._find = find
        self.stories = Stories(find, settle)
        self.written: deque[str] = deque(maxlen=_WRITTEN)
        """The last texts that the client has written to resources."""
        self._versions: dict[str, tuple[int, bool]] = {}
        """The versions that answers have shown to the client, by the ids of their resources, each with whether it has
        read the resource or only written it."""
        self._under_way: dict[int, Entry] = {}
        self._looked_at = float("-inf")
        """The time of the last check for requests that the client has given up."""
        self._ended_at = float("-inf")
        """The time when the last of its requests has ended, without those that the client has given up earlier."""
        self._overlapped_at = float("-inf")
        self._last: Look | None = None
        self._in_row = 1
        """How often in a row the last request has been refused; 1 if it has not been repeated."""
        self._socket: Any = None
        """The socket of the last request that has ended."""
        self._new_connections = 0
        """The number of new connections in a row, each opened after the client had closed the one before."""

    def begin(self, entry: Entry) -> list[Entry]:
        """Record a request that has arrived.

        :return: the earlier requests that the client has given up, by closing their connections.
        """
        gone: list[Entry] = []
        patient_since = entry.arrived_at - _PATIENCE_S
        if self._looked_at <= patient_since:
            self._looked_at = entry.arrived_at
            late = (each for each in self._under_way.values() if each.arrived_at <= patient_since)
            gone = [each for each in late if has_hung_up(each.client)]
        for each in gone:
            each.client_gone = True
            del self._under_way[each.number]
        for each in self._under_way.values():
            each.is_beside = entry.is_beside = True
        # A request is recorded some time after its arrival, when its token has been checked.
        entry.is_beside |= entry.arrived_at < self._ended_at
        if entry.is_beside:
            self._overlapped_at = entry.arrived_at
        self._under_way[entry.number] = entry
        # Only a client that has closed its last connection opens one for each request.
        is_open = self._socket is not None and self._socket.fileno() >= 0 and not has_hung_up(self._socket)
        if entry.connection is not None and entry.connection[1] == 1 and is_open:
            self._new_connections = 0
        return gone

    def end(self, entry: Entry) -> None:
        """Record that a request has ended."""
        self._socket = entry.client
        if self._under_way.pop(entry.number, None) is not None and not entry.client_gone:
            self._ended_at = max(self._ended_at, entry.ended_at)
        if entry.is_beside:
            self._overlapped_at = max(self._overlapped_at, entry.ended_at)

    def may_follow(self, look: Look, before: Look) -> bool:
        """Whether one thread has sent both a request and an earlier one, as far as their times show."""
        # Shortly after two requests have overlapped, requests may come from either thread.
        return not look.entry.is_beside and self._overlapped_at < before.began - _QUIET_S

    def follow(self, look: Look) -> None:
        """Judge the sequence of the client's requests after one of them has ended."""
        last = self._last if self._last is not None and self.may_follow(look, self._last) else None
        self._follow_connections(look, last)
        self._follow_refused(look, last)
        self.stories.follow(look, self.may_follow, self._follow_versions(look))
        self._last = look
        self.written.extend(look.texts())
        look.drop_texts()

    def _follow_connections(self, look: Look, last: Look | None) -> None:
        """Count new connections in a row, with one token, that were opened although the previous connection was
        free."""
        if not look.is_first_on_connection or look.operation == TOKEN_OPERATION:
            self._new_connections = 0
        elif (
            last is None
            or last.authorization != look.authorization
            or look.began - last.entry.answered_at >= _IDLE_S
            or last.has_failed
            or last.is_long
            or not last.keeps_connection
            or not look.keeps_connection
        ):
            self._new_connections = 1
        else:
            self._new_connections += 1
        if self._new_connections >= NEW_CONNECTIONS:
            detail = f"It is new connection {self._new_connections} in a row, each for one request."
            self._find(look.number, "connectionForEachRequest", detail)

    def _follow_refused(self, look: Look, last: Look | None) -> None:
        """Count how often in a row an unchanged request gets a refusal that a retry cannot avoid."""
        is_again = (
            last is not None
            and look.is_refusal
            and look.status == last.status
            and not (look.is_ordered or last.is_ordered)
            and (look.call, look.header_hash) == (last.call, last.header_hash)
        )
        self._in_row = self._in_row + 1 if is_again else 1
        if self._in_row > _REFUSED_AT_MOST and last is not None:
            detail = f"Request {last.number} was the same, and was {last.status}."
            self._find(look.number, "refusedRequestRepeated", detail)

    def _follow_versions(self, look: Look) -> str | None:
        """Find a write that overwrites a version which the client does not know. Return the detail of the finding.

        Each change raises the version by 1. So a write has overwritten somebody else's change if it makes the version
        more than one above the version that the client knows. That is a fault of a client that has read the resource
        and sends no version, and of one that sends the same whole content again after a 409 or 412.
        """
        if look.operation in WRITES and look.was_carried_out:
            written = {} if look.is_lost or look.is_ordered else look.versions_shown()
            if not written:
                self._versions.clear()  # nobody knows which resource has which version now
            for id_, version in written.items():
                known, was_read = self._know(id_, version)
                is_own = look.last_modified_by in (None, look.entry.client_id) and not look.entry.is_beside
                if not known or version <= known + 1 or not is_own or look.method == "DELETE":
                    continue
                if self.stories.forces(look, self.may_follow) or (was_read and not look.expects_version):
                    shown = f"The last version that this client (by credentials and User-Agent) was shown is {known}"
                    detail = f"{shown}, and it has overwritten version {version - 1}."
                    return self._find(look.number, "lostUpdate", detail)
        elif (look.method == "GET" or look.operation in LISTS) and look.status == 200 and not look.is_ordered:
            if look.is_cut or look.is_lost:
                self._versions.clear()  # it may have read any version
            for id_, version in look.versions_shown().items():
                self._know(id_, version, is_read=True)
        return None

    def _know(self, id_: str, version: int, *, is_read: bool = False) -> tuple[int, bool]:
        """Record that an answer has shown a version. Return the version that the client knew before, 0 if it knew none,
        and whether it had read the resource."""
        known, was_read = self._versions.pop(id_, (0, False))
        self._versions[id_] = max(version, known), was_read or is_read
        if len(self._versions) > _KNOWN:
            del self._versions[next(iter(self._versions))]
        return known, was_read


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
    connections: set[int | None]
    """The connections of its request and of its uses."""
    programs: set[str] = field(default_factory=set[str])
    """The programs that have sent the token."""
    uses: int = 0
    used_at: float = 0.0
    """The time when it was last sent."""
    is_doubtful: bool = False
    """Whether it was refused or revoked, or sent in overlapping requests."""


class Tokens:
    """The last tokens that were issued to one API client, for all programs with its credentials."""

    def __init__(self, find: Find) -> None:
        self._find = find
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
                grant.programs.add(look.headers.get("user-agent", ""))
                grant.connections.add(look.connection)
                grant.uses += 1
                grant.used_at = look.began
                grant.is_doubtful |= look.entry.is_beside or look.status in (401, 403)

    def revoke(self, token: str) -> None:
        """Record that the client has revoked a token, so that it needs another one."""
        for grant in self._grants:
            grant.is_doubtful |= grant.token == token

    def _follow_grant(self, client: Client, look: Look, answer: dict[str, Any]) -> None:
        asked = " ".join(sorted(" ".join(look.values("scope")).split()))
        token, lifetime_s = str(answer.get("access_token")), float(answer.get("expires_in", 0))
        grant = _Grant(look, client, token, lifetime_s, asked, {look.connection})
        grants = [*self._grants, grant]
        self._grants.append(grant)
        if len(grants) < 3 or len(set[str]().union(*(each.programs for each in grants))) > 1:
            return
        first, second, _ = grants
        # A program that is started for each request has no connection in common with the one before.
        is_one_program = not (first.connections & second.connections) <= {None}
        if is_one_program and _is_needless(first, second) and _is_needless(second, grant):
            times = "once each" if first.uses == second.uses == 1 else f"{first.uses} and {second.uses} times"
            detail = f"The two tokens before were used {times}, and given up before half of their time was over."
            self._find(look.number, "tokenForEachRequest", detail)


def _is_needless(grant: _Grant, after: _Grant) -> bool:
    """Whether one thread has used a token, and then got another one for the same scope although at least half of the
    lifetime of the first was left."""
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
