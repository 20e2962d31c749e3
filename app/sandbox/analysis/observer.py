"""Looks at each request of a project when it has ended: what it has exercised, what is found in it, how it goes on."""

import logging
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.sandbox.analysis.clients import Before, Client, Page
from app.sandbox.analysis.exercised import exercised_by
from app.sandbox.analysis.findings import BY_ID, FINDINGS, PAGE_FOR_ONE, Found, shown
from app.sandbox.analysis.look import LISTS, Look
from app.sandbox.analysis.recovery import Episode, Outcome
from app.sandbox.analysis.repetitions import is_refused_again
from app.sandbox.analysis.tally import Tally
from app.sandbox.journal.entry import Entry
from app.sandbox.journal.journal import Journal

SINGLE_PAGES = 3
"""Whole pages in a row of which one result each is read, from which on they are a finding."""

_WHOLE_PAGE = "500"
_CLIENTS_AT_MOST = 100
_REMEMBERED = 1000
"""Requests whose repetition is seen."""

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(f'"id":"({_UUID.pattern})"')

_log = logging.getLogger("app.sandbox")


@dataclass(frozen=True, slots=True)
class _Blame:
    """What was said against requests of a client for the same aim."""

    client: Client
    aim: bytes
    verdict: Found | Episode


class Observer:
    """Of one project.

    :ivar journal: in which it notes them.
    :param known: what can be exercised, by kind.
    """

    def __init__(self, project_key: str, client_id: str, journal: Journal, known: Mapping[str, frozenset[str]]) -> None:
        self._project_key = project_key
        self._client_id = client_id
        self.journal = journal
        self._known = known
        self._clients: dict[tuple[str, str], Client] = {}
        self._failed: dict[bytes, Look] = {}
        """What has failed lately, by call; a 409 also by aim."""
        self._tally = Tally()
        self._blamed: deque[_Blame] = deque()
        """What was said against sequences, not counted yet: it is withdrawn if the request turns out to be one of
        several threads."""

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

    def tally(self) -> Tally:
        """What all requests have shown until now, also those that may still go on."""
        made = Tally()
        made.add(self._tally)
        for client in self._clients.values():
            for episode in client.chains.running():
                made.judge(self._project_key, episode)
            for _, found in _page_found(client):
                self._count(made, found)
        for blame in self._blamed:
            self._count(made, blame.verdict)
        return made

    def _client_of(self, entry: Entry) -> Client:
        # A request that was refused for its token is that of the project's client: others have none for it.
        key = entry.client_id or self._client_id, entry.request.by_name().get("user-agent", "")
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= _CLIENTS_AT_MOST:
                gone = self._clients.pop(next(iter(self._clients)))
                for episode in gone.chains.running():
                    self._count(self._tally, episode)
            client = self._clients[key] = Client()
        return client

    def _judge(self, client: Client, entry: Entry) -> None:
        entry.is_judged = True
        look = Look(entry)
        try:
            self._look_at(client, look)
        except Exception as error:  # noqa: BLE001 -- who reads a journal wants to see just what no program can read
            _report(error, look)

    def _look_at(self, client: Client, look: Look) -> None:
        self._tally.count(exercised_by(look, self._known))
        before = client.before(look)
        for number, found in _follow_page(client, look, is_certain=before.last is not None):
            self.journal.found(number, found)
            self._count(self._tally, found)
        if look.entry.is_beside and self._blamed:
            self._withdraw(client, look.aim)
        for finding in FINDINGS:
            if finding.look is None:
                continue
            try:
                detail = finding.look(before, look)
            except Exception as error:  # noqa: BLE001 -- whatever it is, the other looks are to be made
                _report(error, look)
                continue
            if detail is not None:
                found = Found(look.number, finding, shown(detail))
                self.journal.found(look.number, found)
                alone = Before(new_connections=before.new_connections)
                self._say(client, look.aim, found, is_blame=finding.look(alone, look) is None)
        if before.last is not None and is_refused_again(before.last, look):
            look.in_row = before.last.in_row + 1
        for episode in client.chains.follow(look, client.may_follow):
            self._say(client, look.aim, episode, is_blame=episode.outcome is Outcome.MADE_WORSE)
        look.entry.repeats = self._repeated(look)
        client.remember(look, before)

    def _say(self, client: Client, aim: bytes, verdict: Found | Episode, *, is_blame: bool) -> None:
        if not is_blame:
            self._count(self._tally, verdict)
            return
        self._blamed.append(_Blame(client, aim, verdict))
        if len(self._blamed) > _REMEMBERED:
            self._count(self._tally, self._blamed.popleft().verdict)

    def _withdraw(self, client: Client, aim: bytes) -> None:
        """Blame no client for what two of its threads may have done: it sends the same beside other requests."""
        kept: deque[_Blame] = deque()
        for blame in self._blamed:
            if blame.client is not client or blame.aim != aim:
                kept.append(blame)
            elif isinstance(blame.verdict, Found):
                self.journal.withdraw(blame.verdict.number, blame.verdict)
            else:
                self._count(self._tally, blame.verdict.doubted())
        self._blamed = kept

    def _count(self, tally: Tally, found: Found | Episode) -> None:
        if isinstance(found, Episode):
            tally.judge(self._project_key, found)
            return
        secrets, entry = self.journal.secrets, self.journal.get(found.number)
        method, target = ("", "") if entry is None else (entry.method, secrets.redacted(entry.target))
        found = Found(found.number, found.finding, secrets.redacted(found.detail))
        tally.find(self._project_key, found, method, target)

    def _repeated(self, look: Look) -> int | None:
        """The number of the failed request that this one repeats."""
        if look.trouble is None and not self._failed:
            return None
        before = self._failed.pop(look.call, None)
        if look.trouble is not None:
            self._failed[look.call] = look
            if look.status == 409:
                self._failed[b"409" + look.aim] = look
        else:
            before = before or self._failed.pop(b"409" + look.aim, None)
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


def _report(error: Exception, look: Look) -> None:
    """Log that a request could not be looked at. A client sends what it likes, and its other requests are judged."""
    _log.warning("a look at an entry failed", extra={"fields": {"request": look.number, "reason": repr(error)}})
