"""Looks at each request of a project when it has ended: what it has exercised, what is found in it, how it goes on."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeVar

from app.sandbox.analysis.clients import Client, Page
from app.sandbox.analysis.exercised import exercised_by
from app.sandbox.analysis.findings import BY_ID, FINDINGS, PAGE_FOR_ONE, Found, shown
from app.sandbox.analysis.look import LISTS, Look, Past
from app.sandbox.analysis.repetitions import is_refused_again
from app.sandbox.analysis.tally import Tally
from app.sandbox.journal.entry import Entry
from app.sandbox.journal.journal import Journal
from app.sandbox.journal.redaction import redacted

SINGLE_PAGES = 3
"""Whole pages in a row of which one result each is read, from which on they are a finding."""

_WHOLE_PAGE = "500"
_CLIENTS_AT_MOST = 100
_REMEMBERED = 1000
"""Requests whose repetition is seen."""

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(f'"id":"({_UUID.pattern})"')

_log = logging.getLogger("app.sandbox")

Looked = TypeVar("Looked")

Pending = Callable[[Entry], tuple[Mapping[int, int], bool]]
"""The connections on which a request has arrived that was not begun, and whether others wait to be accepted."""


class Observer:
    """Of one project.

    :param known: what can be exercised, by kind.
    """

    def __init__(
        self, project_key: str, client_id: str, journal: Journal, known: Mapping[str, frozenset[str]], pending: Pending
    ) -> None:
        self._project_key = project_key
        self._client_id = client_id
        self._journal = journal
        self._known = known
        self._pending = pending
        self._clients: dict[tuple[str, str | None], Client] = {}
        self._failed: dict[bytes, Past] = {}
        """What has failed lately, by call; a 409 also by aim."""
        self._tally = Tally()

    def begin(self, entry: Entry) -> None:
        """Note a request that has arrived."""
        for gone in self._client_of(entry).begin(entry):
            self._judge(gone)

    def end(self, entry: Entry) -> None:
        """Judge a request that has ended."""
        self._client_of(entry).end(entry)
        if not entry.is_judged:
            self._judge(entry)

    def tally(self) -> Tally:
        """What all requests have shown until now, also those that may still go on."""
        made = Tally()
        made.add(self._tally)
        for client in self._clients.values():
            for episode in client.chains.running():
                made.judge(self._project_key, episode)
            for _, found in _page_found(client):
                self._count(made, found)
        return made

    def _client_of(self, entry: Entry) -> Client:
        agent = next((value for name, value in entry.request.pairs() if name.lower() == "user-agent"), None)
        # A request that was refused for its token is that of the project's client: others have none for it.
        key = entry.client_id or self._client_id, agent
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= _CLIENTS_AT_MOST:
                gone = self._clients.pop(next(iter(self._clients)))
                for episode in gone.chains.running():
                    self._tally.judge(self._project_key, episode)
            client = self._clients[key] = Client()
        return client

    def _judge(self, entry: Entry) -> None:
        entry.is_judged = True
        pending: tuple[Mapping[int, int], bool] = ({}, False)
        if entry.status is None or entry.status >= 400:
            pending = self._pending(entry)
        look = Look(entry, *pending)
        _tolerantly(lambda: self._looked_at(look), None, look)

    def _looked_at(self, look: Look) -> None:
        client = self._client_of(look.entry)
        self._tally.count(exercised_by(look, self._known))
        before = client.before(look)
        past = look.past()
        for number, found in _follow_page(client, look, is_certain=before.last is not None):
            self._found(number, found)
        for finding in FINDINGS:
            if finding.look is not None:
                detail = _tolerantly(partial(finding.look, before, look), None, look)
                if detail is not None:
                    self._found(look.number, Found(look.number, finding, shown(detail)))
        if before.last is not None and is_refused_again(before.last, look):
            past.in_row = before.last.in_row + 1
        for episode in client.chains.follow(look, past, client.is_calm_since):
            self._tally.judge(self._project_key, episode)
        look.entry.repeats = self._repeated(look, past)
        client.remember(look, past)

    def _found(self, number: int, found: Found) -> None:
        self._journal.found(number, found)
        self._count(self._tally, found)

    def _count(self, tally: Tally, found: Found) -> None:
        secrets, entry = self._journal.secrets, self._journal.get(found.number)
        method, target = ("", "") if entry is None else (entry.method, redacted(entry.target, secrets))
        found = Found(found.number, found.finding, redacted(found.detail, secrets))
        tally.find(self._project_key, found, method, target)

    def _repeated(self, look: Look, past: Past) -> int | None:
        """The number of the failed request that this one repeats."""
        before = self._failed.pop(past.call, None)
        if past.trouble is not None:
            self._failed[past.call] = past
            if past.status == 409:
                self._failed[b"409" + past.aim] = past
        else:
            before = before or self._failed.pop(b"409" + past.aim, None)
        while len(self._failed) > _REMEMBERED:
            del self._failed[next(iter(self._failed))]
        return before.number if before is not None and look.is_reaction_to(before) else None


def _follow_page(client: Client, look: Look, *, is_certain: bool) -> Iterator[tuple[int, Found]]:
    page = client.page
    if page is not None:
        used = _UUID.search(look.decoded_path)
        if used is not None and (used[0] in page.ids or page.used):
            # What is changed may be what only a whole page shows.
            page.used.append(used[0] if look.method == "GET" and is_certain else "")
            return
        yield from _page_found(client)
        client.single_pages = client.single_pages + 1 if _is_single(page) else 0
        client.page = None
    if look.operation in LISTS and look.status == 200 and _WHOLE_PAGE in look.values("limit"):
        ids = frozenset(_ID.findall(look.answer_text))
        client.page = Page(look.number, ids) if len(ids) > 1 else None


def _is_single(page: Page) -> bool:
    return len(page.used) == 1 and page.used[0] in page.ids


def _page_found(client: Client) -> Iterator[tuple[int, Found]]:
    page = client.page
    if page is not None and _is_single(page) and client.single_pages + 1 >= SINGLE_PAGES:
        detail = f"Of its {len(page.ids)} results only {page.used[0]} was read, and so it was with the pages before."
        yield page.number, Found(page.number, BY_ID[PAGE_FOR_ONE], detail)


def _tolerantly(look: Callable[[], Looked], otherwise: Looked, entry: Look) -> Looked:
    """Look at an entry. A look that fails finds nothing, and hides nothing else.

    A client sends what it likes, and who reads a journal wants to see just that.
    """
    try:
        return look()
    except Exception as error:  # noqa: BLE001 -- whatever it is, the other looks are to be made
        _log.warning("a look at an entry failed", extra={"fields": {"request": entry.number, "reason": repr(error)}})
        return otherwise
