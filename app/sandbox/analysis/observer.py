"""Looks through a journal for findings: fed with its entries as they end, all at once or as they are written."""

import re
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from app.sandbox.analysis.findings import BY_ID, FINDINGS, PAGE_FOR_ONE, Found, shown
from app.sandbox.analysis.history import Before, Line, Page, Program, remember
from app.sandbox.journal.entries import LISTS, Entry, Past, tolerantly

_IDLE_S = 3.0
"""Clients give up connections that were idle for longer, by their own rules: some keep them for 4 s only."""

SINGLE_PAGES = 3
"""Whole pages in a row of which one result each is read, from which on they are a finding."""

_REMEMBERED = 1000
"""Requests whose repetition is seen, and connections: as many as the journal keeps requests."""

_WHOLE_PAGE = 500

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(f'"id":"({_UUID.pattern})"')


@dataclass(frozen=True, slots=True)
class Observation:
    """What an entry shows.

    :param found: in it or in an earlier one.
    :param repeats: the number of the request that had failed and that it repeats; None: it repeats none.
    :param again: the number of the request that the same client sent before for the same aim, if that is certain.
    """

    found: tuple[Found, ...]
    repeats: int | None
    again: int | None = None


class Observer:
    """Finds what there is in the entries of one journal, fed in the order in which they ended."""

    def __init__(self) -> None:
        self._lines: OrderedDict[int, Line] = OrderedDict()
        self._programs: dict[str | None, Program] = {}
        self._calls: dict[bytes, Past] = {}
        self._aims: dict[bytes, Past] = {}

    def feed(self, entry: Entry, *, beside: bool = False) -> Observation:
        """What the next entry has, and what it shows of earlier ones.

        :param beside: whether another request was under way when this one ended.
        """
        return tolerantly(lambda: self._fed(entry, beside=beside), Observation((), None), entry)

    def _fed(self, entry: Entry, *, beside: bool) -> Observation:
        line = self._line_of(entry)
        program = self._program_of(entry)
        before = _before(line, program, entry, beside=beside)
        found = list(_follow_page(line, entry, is_alone=before.last is not None))
        for finding in FINDINGS:
            look = finding.look
            detail = None if look is None else tolerantly(partial(look, before, entry), None, entry)
            if detail is not None:
                found.append(Found(entry.number, finding, shown(detail)))
        repeats = self._repeated(entry)
        again = before.last if before.last is not None and before.last.aim == entry.aim else before.same
        if again is not None and again.status == 409 and again is not before.last:
            again = None  # it may have read the resource meanwhile
        past = entry.past()
        program.remember(entry, past)
        if line is not None:
            line.remember(entry, past)
        remember(self._calls, past.call, past, _REMEMBERED)
        remember(self._aims, past.aim, past, _REMEMBERED)
        return Observation(tuple(found), repeats, None if again is None else again.number)

    def finish(self) -> list[Found]:
        """What the end of the journal shows."""
        return [found for line in self._lines.values() for found in _page_found(line)]

    def _repeated(self, entry: Entry) -> int | None:
        before = self._calls.get(entry.call)
        if before is not None and before.trouble is not None and entry.may_follow(before):
            return before.number
        before = self._aims.get(entry.aim)
        return before.number if before is not None and before.status == 409 and entry.may_follow(before) else None

    def _line_of(self, entry: Entry) -> Line | None:
        number = entry.connection
        if number is None:
            return None
        line = self._lines.pop(number, None) or Line(number)
        self._lines[number] = line
        if len(self._lines) > _REMEMBERED:
            self._lines.popitem(last=False)
        return line

    def _program_of(self, entry: Entry) -> Program:
        key = entry.user_agent
        if key not in self._programs and len(self._programs) >= _REMEMBERED:
            del self._programs[next(iter(self._programs))]
        return self._programs.setdefault(key, Program())


def _before(line: Line | None, program: Program, entry: Entry, *, beside: bool) -> Before:
    if line is None:
        return Before()
    program.new_connections = _new_connections(program, entry)
    if beside:
        return Before(new_connections=program.new_connections)

    def alone_since(began: float, *others: int | None) -> bool:
        return program.is_alone((line.number, *others), began, entry.ended)

    last = line.last
    if last is not None and not alone_since(last.began):
        last = None
    same = line.calls.get(entry.call)
    if same is not None and not alone_since(same.began):
        same = None
    if same is None and entry.is_first_on_connection:
        lost = program.lost.get(entry.call)
        if (
            lost is not None
            and lost.token == entry.token
            and entry.began >= lost.ended
            and alone_since(lost.began, lost.connection)
        ):
            same = lost
    grants = tuple(grant for grant in line.grants if alone_since(grant.began))
    return Before(same, last, grants, program.new_connections)


def _new_connections(program: Program, entry: Entry) -> int:
    """New connections in a row, each opened although the one before could be used."""
    last = program.last
    if not entry.is_first_on_connection:
        return 0
    if (
        last is None
        or not last.answered <= entry.connected
        or entry.began - last.answered >= _IDLE_S
        or not program.is_alone((last.connection, entry.connection), last.began, entry.began)
        or last.is_lost
        or (last.status or 500) >= 400
        or last.token != entry.token
        or not last.keeps_connection
        or not entry.keeps_connection
    ):
        return 1
    return program.new_connections + 1


def _follow_page(line: Line | None, entry: Entry, *, is_alone: bool) -> Iterator[Found]:
    if line is None:
        return
    page = line.page
    if page is not None:
        used = _UUID.search(entry.decoded_path)
        if used is not None and (used[0] in page.ids or page.used):
            # What is changed may be what only a whole page shows.
            page.used.append(used[0] if entry.method == "GET" and is_alone else "")
            return
        yield from _page_found(line)
        line.single_pages = line.single_pages + 1 if _is_single(page) else 0
        line.page = None
    if entry.operation in LISTS and entry.status == 200 and f"{_WHOLE_PAGE}" in entry.values("limit"):
        ids = frozenset(_ID.findall(entry.answer_text))
        line.page = Page(entry.number, ids) if len(ids) > 1 else None


def _is_single(page: Page) -> bool:
    return len(page.used) == 1 and page.used[0] in page.ids


def _page_found(line: Line) -> Iterator[Found]:
    page = line.page
    if page is not None and _is_single(page) and line.single_pages + 1 >= SINGLE_PAGES:
        detail = f"Of its {len(page.ids)} results only {page.used[0]} was read, and so it was with the pages before."
        yield Found(page.number, BY_ID[PAGE_FOR_ONE], detail)


@dataclass(frozen=True, slots=True)
class Observed:
    """What a whole journal shows: findings by the numbers of entries, which entry repeats which, and for certain."""

    found: Mapping[int, Sequence[Found]]
    repeats: Mapping[int, int]
    again: Mapping[int, int]


def observe(entries: Iterable[Entry]) -> Observed:
    """Look through a whole journal; requests that are under way are passed over.

    :param entries: in the order of their numbers.
    """
    observer = Observer()
    found: dict[int, list[Found]] = {}
    repeats: dict[int, int] = {}
    again: dict[int, int] = {}
    listed = list(entries)
    are_beside = beside([(entry.began, entry.ended) for entry in listed])
    ended = [(entry, is_beside) for entry, is_beside in zip(listed, are_beside, strict=True) if not entry.is_under_way]
    for entry, is_beside in sorted(ended, key=lambda each: (each[0].ended, each[0].number)):
        observation = observer.feed(entry, beside=is_beside)
        for each in observation.found:
            found.setdefault(each.number, []).append(each)
        if observation.repeats is not None:
            repeats[entry.number] = observation.repeats
        if observation.again is not None:
            again[entry.number] = observation.again
    for each in observer.finish():
        found.setdefault(each.number, []).append(each)
    return Observed(found, repeats, again)


def beside(spans: Sequence[tuple[float, float]]) -> list[bool]:
    """Of each request, whether another one was under way when it ended.

    :param spans: when each began and ended, in the order of their beginnings.
    """
    latest: list[float] = list(accumulate((ended for _, ended in spans), max))
    begun = [bisect_left(spans, (ended,)) for _, ended in spans]
    return [number > 0 and latest[number - 1] > ended for number, (_, ended) in zip(begun, spans, strict=True)]
