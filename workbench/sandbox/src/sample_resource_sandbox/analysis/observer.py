"""Judges each request of a project when it has ended: its findings, and the story that it continues."""

import logging
from collections.abc import Collection
from functools import partial

from sample_resource_sandbox.analysis.clients import Client, Tokens
from sample_resource_sandbox.analysis.findings import BY_ID, FINDINGS, shown
from sample_resource_sandbox.analysis.look import Look
from sample_resource_sandbox.analysis.stories import Episode
from sample_resource_sandbox.analysis.tally import Tally
from sample_resource_sandbox.journal.entry import Entry
from sample_resource_sandbox.journal.journal import Journal

_CLIENTS_AT_MOST = 25
"""The most clients of a project whose stories may still be open, because a report judges all of them at once."""

_log = logging.getLogger("app.sandbox")


class Observer:
    """Judges the requests of one project, and records them in its journal.

    :ivar client_id: the project's own client.
    :ivar journal: the journal of the project.
    :param allow: the ids of findings that are expected, and not recorded.
    :param is_cut: whether the project has had requests that are not known any more.
    """

    def __init__(
        self, project_key: str, client_id: str, journal: Journal, allow: Collection[str] = (), *, is_cut: bool = False
    ) -> None:
        self._project_key = project_key
        self.client_id = client_id
        self.journal = journal
        self.allow = allow
        self._clients: dict[tuple[str, str], Client] = {}
        self._tokens = Tokens(self.find)
        self._tally = Tally(is_cut=is_cut)

    def begin(self, entry: Entry) -> None:
        """Record a request that has arrived. The caller has to call :meth:`end` when the request ends in any way."""
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
        """Record that the project's client has revoked a token. This is no request to the project itself."""
        self._tokens.revoke(token)

    def note_removal(self) -> None:
        """Record that resources of the project were removed: a later POST makes no second one of them."""
        for client in self._clients.values():
            client.stories.forget_creations()

    def tally(self) -> Tally:
        """The results of all requests so far, including open stories."""
        made = Tally()
        made.add(self._tally)
        for client in self._clients.values():
            for episode in client.stories.episodes():
                made.judge(self._project_key, episode)
        return made

    def _client_of(self, entry: Entry) -> Client:
        # A request with a refused token counts for the project's client, because no other client has tokens for the
        # project.
        key = entry.client_id or self.client_id, entry.request.by_name().get("user-agent", "")
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= _CLIENTS_AT_MOST:
                for episode in self._clients.pop(next(iter(self._clients))).stories.episodes():
                    self.settle(episode)
            client = self._clients[key] = Client(self.find, self.settle)
        return client

    def _judge(self, client: Client, entry: Entry) -> None:
        entry.is_judged = True
        look = Look(entry, client.written)
        if look.method == "DELETE" and look.was_carried_out:
            self.note_removal()
        checks = [(each.id, each.check) for each in FINDINGS if each.check is not None]
        count, follow = partial(self._tally.count, self.client_id), partial(self._tokens.follow, client)
        for id_, act in (("", count), *checks, ("", follow), ("", client.follow)):
            try:
                detail = act(look)
                if detail is not None:
                    self.find(look.number, id_, detail)
            except Exception as error:  # noqa: BLE001 -- a client may send anything, and the other checks have to go on
                fields = {"request": look.number, "reason": repr(error)}
                _log.warning("a check of an entry failed", extra={"fields": fields})

    def find(self, number: int, id_: str, detail: str) -> str | None:
        """Record a finding in the entry of a request, if it is kept, and in the report. Return its detail as it is
        shown; None if such findings are allowed."""
        if id_ in self.allow:
            return None
        secrets, entry = self.journal.secrets, self.journal.get(number)
        detail = secrets.redacted(shown(detail))
        method = target = ""
        if entry is not None:
            method, target = entry.method, secrets.redacted(entry.target)
            entry.findings += (BY_ID[id_].described(detail),)
        self._tally.find(id_, self._project_key, number, method, target, detail)
        return detail

    def settle(self, episode: Episode) -> None:
        """Count the outcome of a trouble that is no longer kept."""
        self._tally.judge(self._project_key, episode)
