"""Looks at each request of a project when it has ended: what it has exercised, what is found in it, how it goes on."""

import logging
from collections.abc import Collection, Iterator, Mapping
from functools import partial

from sample_resource_sandbox.analysis.clients import Client, Tokens
from sample_resource_sandbox.analysis.exercised import exercised_by
from sample_resource_sandbox.analysis.findings import BY_ID, FINDINGS, Finds, Found, shown
from sample_resource_sandbox.analysis.look import Look
from sample_resource_sandbox.analysis.stories import Episode
from sample_resource_sandbox.analysis.tally import Tally
from sample_resource_sandbox.journal.entry import Entry
from sample_resource_sandbox.journal.journal import Journal

_CLIENTS_AT_MOST = 25
"""Whose faults may still be open: a report judges all of them at once."""

_log = logging.getLogger("sample_resource_sandbox")


def _looks() -> Iterator[tuple[str, Finds]]:
    return ((each.id, each.look) for each in FINDINGS if each.look is not None)


class Observer:
    """Of one project. It is what :class:`.stories.Notes` asks for.

    :ivar journal: in which it notes them.
    :param known: what can be exercised, by kind.
    :param allow: the ids of findings that are expected, and not made.
    :param is_cut: whether the project has had requests that are not known any more.
    """

    def __init__(
        self,
        project_key: str,
        client_id: str,
        journal: Journal,
        known: Mapping[str, frozenset[str]],
        allow: Collection[str] = (),
        *,
        is_cut: bool = False,
    ) -> None:
        self._project_key = project_key
        self._client_id = client_id
        self.journal = journal
        self._known = known
        self.allow = allow
        self._clients: dict[tuple[str, str], Client] = {}
        self._tokens: dict[str, Tokens] = {}
        self._tally = Tally(is_cut=is_cut)

    def begin(self, entry: Entry) -> None:
        """Note a request that has arrived. :meth:`end` has to follow, however it ends."""
        self.journal.begin(entry)
        client = self._client_of(entry)
        for gone in client.begin(entry):
            self._judge(client, gone)

    def end(self, entry: Entry) -> None:
        """Judge a request that has ended, and complete its entry."""
        client = self._client_of(entry)
        client.end(entry)
        if not entry.is_judged:
            self._judge(client, entry)
        self.journal.end(entry)

    def revoke(self, token: str) -> None:
        """Note that the project's client has ended a token, which is no request to the project."""
        if self._client_id in self._tokens:
            self._tokens[self._client_id].revoke(token)

    @property
    def requests(self) -> int:
        """How many were judged."""
        return self._tally.requests

    def tally(self) -> Tally:
        """What all requests have shown until now, also those that may still go on."""
        made = Tally()
        made.add(self._tally)
        for client in self._clients.values():
            for episode in client.stories.episodes():
                made.judge(self._project_key, episode)
        return made

    def _client_of(self, entry: Entry) -> Client:
        # A request that was refused for its token is that of the project's client: others have none for it.
        key = entry.client_id or self._client_id, entry.request.by_name().get("user-agent", "")
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= _CLIENTS_AT_MOST:
                for episode in self._clients.pop(next(iter(self._clients))).stories.episodes():
                    self.settle(episode)
            client = self._clients[key] = Client(self)
        return client

    def _judge(self, client: Client, entry: Entry) -> None:
        entry.is_judged = True
        look = Look(entry, client.written)
        client_id = entry.client_id or self._client_id
        if client_id not in self._tokens:
            self._tokens[client_id] = Tokens(self)
        tokens = self._tokens[client_id]
        for id_, act in (("", self._exercise), *_looks(), ("", partial(tokens.follow, client)), ("", client.follow)):
            try:
                detail = act(look)
                if detail is not None:
                    self.find(look.number, id_, detail)
            except Exception as error:  # noqa: BLE001 -- a client sends what it likes, and all else is judged
                fields = {"request": look.number, "reason": repr(error)}
                _log.warning("a look at an entry failed", extra={"fields": fields})

    def _exercise(self, look: Look) -> None:
        self._tally.count(exercised_by(look, self._known))

    def find(self, number: int, id_: str, detail: str) -> Found | None:
        """Note a finding in a request; None if it is allowed."""
        if id_ in self.allow:
            return None
        secrets, entry = self.journal.secrets, self.journal.get(number)
        found = Found(number, BY_ID[id_], secrets.redacted(shown(detail)))
        method, target = ("", "") if entry is None else (entry.method, secrets.redacted(entry.target))
        self.journal.found(number, found)
        self._tally.find(self._project_key, found, method, target)
        return found

    def withdraw(self, found: Found) -> None:
        """Take a finding back."""
        self.journal.withdraw(found.number, found)
        self._tally.withdraw(self._project_key, found)

    def settle(self, episode: Episode) -> None:
        """Count how a fault ended."""
        self._tally.judge(self._project_key, episode)
