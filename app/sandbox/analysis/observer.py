"""Looks through a journal for findings: fed with its entries in their order, all at once or as they are written."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from app.sandbox.analysis.findings import BY_ID, FINDINGS, PAGE_FOR_ONE, Found, shown
from app.sandbox.analysis.history import Grant, History, Page, is_grant, scope_asked
from app.sandbox.journal.entries import LISTS, TOKEN_OPERATION, Entry, Past, tolerantly

KEPT_ALIVE_S = 75.0
"""How long the service keeps an idle connection (gunicorn's ``keepalive``): a new one after that is no finding."""

_REMEMBERED = 1000
"""Requests whose repetition is seen: as many as the journal keeps."""

_WHOLE_PAGE = 500

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(f'"id":"({_UUID.pattern})"')


@dataclass(frozen=True, slots=True)
class Observation:
    """What an entry shows.

    :param found: in it or in an earlier one.
    :param repeats: the number of the request that had failed and that it repeats; None: it repeats none.
    """

    found: tuple[Found, ...]
    repeats: int | None


def _repeated(history: History, entry: Entry) -> int | None:
    before = history.calls.get(entry.call)
    if before is not None and before.trouble is not None:
        return before.number
    before = history.places.get(entry.place)
    return before.number if before is not None and before.status == 409 else None


class Observer:
    """Finds what there is in the entries of one journal, fed in the order of their numbers.

    Entries of several API clients are told apart.
    """

    def __init__(self) -> None:
        self._histories: dict[str, History] = {}
        self._present = History()

    def feed(self, entry: Entry) -> Observation:
        """What the next entry has, and what it shows of earlier ones."""
        return tolerantly(lambda: self._fed(entry), Observation((), None), entry)

    def _fed(self, entry: Entry) -> Observation:
        history = self._history_of(entry)
        repeats = _repeated(history, entry)
        self._count_connection(history, entry)
        found = list(self._follow_page(history, entry))
        for finding in FINDINGS:
            look = finding.look
            detail = None if look is None else tolerantly(partial(look, history, entry), None, entry)
            if detail is not None:
                found.append(Found(entry.number, finding, shown(detail)))
        self._remember(history, entry)
        return Observation(tuple(found), repeats)

    def finish(self) -> list[Found]:
        """What the end of the journal shows."""
        return [found for history in self._histories.values() for found in _page_found(history)]

    def _history_of(self, entry: Entry) -> History:
        """A request without a valid token names no client: it belongs to the client that was there last."""
        if entry.client is not None:
            if not self._histories:
                self._histories[entry.client] = self._present
            self._present = self._histories.setdefault(entry.client, History())
        return self._present

    @staticmethod
    def _count_connection(history: History, entry: Entry) -> None:
        connection, last = entry.data["connection"], history.last
        if connection is None:
            return
        if connection["request"] > 1 or last is None:
            history.new_connections = 1 if connection["request"] == 1 else 0
        elif _needed_new_connection(last, entry):
            history.new_connections = 1
        else:
            history.new_connections += 1

    @staticmethod
    def _follow_page(history: History, entry: Entry) -> Iterator[Found]:
        page = history.page
        if page is None:
            return
        used = _UUID.search(entry.decoded_path)
        if used is not None and (used[0] in page.ids or page.used):
            if used[0] not in page.used:
                page.used.append(used[0])
            return
        if entry.operation != TOKEN_OPERATION:
            yield from _page_found(history)
            history.page = None

    @staticmethod
    def _remember(history: History, entry: Entry) -> None:
        history.last = past = entry.past()
        _keep(history.calls, entry.call, past)
        _keep(history.places, entry.place, past)
        if is_grant(entry):
            lifetime_s = float(entry.answer_json.get("expires_in", 0)) if isinstance(entry.answer_json, dict) else 0.0
            history.grants.append(Grant(entry.project_time, lifetime_s, scope_asked(entry)))
        elif history.grants:
            history.grants[-1].uses += 1
            if entry.status == 401:
                history.grants[-1].was_refused = True
        if entry.operation in LISTS and entry.status == 200 and f"{_WHOLE_PAGE}" in entry.values("limit"):
            ids = frozenset(_ID.findall(entry.answer_text))
            history.page = Page(entry.number, ids) if len(ids) > 1 else None


def _keep(remembered: dict[bytes, Past], key: bytes, entry: Past) -> None:
    """Remember the last entry of a key, and forget the key that was met longest ago if there are too many."""
    remembered.pop(key, None)
    remembered[key] = entry
    if len(remembered) > _REMEMBERED:
        del remembered[next(iter(remembered))]


def _needed_new_connection(last: Past, entry: Entry) -> bool:
    """Whether the connection of the entry before could not be used: it was busy, idle for too long, or closed."""
    return (
        # Another program: the user of a client also sends requests by hand.
        entry.user_agent != last.user_agent
        or not entry.follows(last)
        or entry.began - last.ended > KEPT_ALIVE_S
        or last.is_lost
        or last.closes
    )


def _page_found(history: History) -> Iterator[Found]:
    page = history.page
    if page is not None and len(page.used) == 1:
        yield Found(page.number, BY_ID[PAGE_FOR_ONE], f"Of its {len(page.ids)} results only {page.used[0]} was used.")


@dataclass(frozen=True, slots=True)
class Observed:
    """What a whole journal shows: findings by the numbers of entries, and which entry repeats which."""

    found: Mapping[int, Sequence[Found]]
    repeats: Mapping[int, int]


def observe(entries: Iterable[Entry]) -> Observed:
    """Look through a whole journal.

    :param entries: in the order of their numbers.
    """
    observer = Observer()
    found: dict[int, list[Found]] = {}
    repeats: dict[int, int] = {}
    for entry in entries:
        observation = observer.feed(entry)
        for each in observation.found:
            found.setdefault(each.number, []).append(each)
        if observation.repeats is not None:
            repeats[entry.number] = observation.repeats
    for each in observer.finish():
        found.setdefault(each.number, []).append(each)
    return Observed(found, repeats)
