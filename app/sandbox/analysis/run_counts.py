"""What the requests of a run of tests show, counted into the rows of :mod:`app.sandbox.projects.runs`.

What a request shows by itself, such as its operation and the clauses that it exercises, is counted when it has ended,
with the entry that a worker writes of it. What only the order of requests shows, which is findings, recoveries and some
clauses, needs the requests of all workers, before and after: it is counted when entries leave the journal, by its
overflow, a reset or the removal of the project. Of entries that are there, a report finds it out when it is asked for.
"""

import json
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache, partial
from uuid import UUID

from app.database.connection import Connection
from app.database.pool import Database
from app.sandbox.analysis.coverage import CONDITIONS
from app.sandbox.analysis.notations import NOTATIONS
from app.sandbox.analysis.observer import observe
from app.sandbox.analysis.recovery import Episode, Outcome, episodes
from app.sandbox.clauses.conditions import Then, When
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.entries import Entry, tolerantly
from app.sandbox.journal.store import Kept, Row
from app.sandbox.projects import runs
from app.sandbox.projects.runs import Counts, Judged, add_one
from app.values.large_values import computed

_SPARED = 250
_BYTES_SPARED = 4 * 1024 * 1024
"""Entries that stay behind the journal's last ones although they are counted: what follows is judged with them."""

_TARGET_AT_MOST = 200
"""Characters of a target in an example."""


class RunCounts:
    """Counts for the journals of a worker."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counted(self, run_id: UUID, rows: Sequence[Row]) -> Callable[[Connection], None]:
        """Count what requests show that have ended.

        :return: adds it to the run, in the transaction that writes the entries.
        """
        counts = computed(partial(_counts_of, rows), sum(len(row.entry) for row in rows))
        return partial(runs.add, run_id=run_id, counts=counts)

    def leave(self, connection: Connection, project_key: str) -> None:
        """Delete the entries that the journal does not keep any more, once their order was judged."""
        judge(connection, project_key, is_over=False)
        journal_store.forget(connection, project_key, spared=_SPARED, bytes_spared=_BYTES_SPARED)

    def close(self, project_key: str) -> None:
        """Judge the whole journal of a project, which is going to be deleted."""
        with self._database.connection(project_key) as connection:
            judge(connection, project_key, is_over=True)


def judge(connection: Connection, project_key: str, *, is_over: bool) -> None:
    """Count what the order of requests shows; nothing for a project without a run.

    :param is_over: whether all entries are judged; else those that the journal does not keep any more.
    """
    before = runs.judged(connection, project_key)
    if before is None:
        return
    kept = journal_store.whole(connection, project_key)
    leaving = [each.position for each in kept if is_over or not each.is_wanted]
    if not leaving or leaving[-1] <= before.position:
        return
    counts = order_counts(before, kept, leaving[-1])
    with connection.transaction():
        if runs.set_judged(connection, before, leaving[-1]):
            runs.add(connection, before.run_id, counts)


def order_counts(project: Judged, kept: Sequence[Kept], until: journal_store.Position | None = None) -> Counts:
    """What the order of the entries of a journal shows, of those that were not judged yet.

    :param kept: the whole journal with its texts.
    :param until: the last entry that is judged; None: the last one.
    """
    fresh = {
        each.number for each in kept if each.position > project.position and (until is None or each.position <= until)
    }
    if not fresh:
        return {}
    return computed(partial(_order_counts_of, project.project_key, kept, fresh), sum(each.size for each in kept))


# What a request shows by itself


def _counts_of(rows: Sequence[Row]) -> Counts:
    counts: Counts = {}
    for row in rows:
        kept = Kept(0, (row.arrived_us, row.place), row.ended_us, len(row.entry), True, row.entry)
        for kind, name in _facts_of(Entry.read(kept, row.entry)):
            add_one(counts, kind, name)
    return counts


def _facts_of(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "request", ""
    yield "operation", entry.operation or "none"
    yield "status", str(entry.status or "none")
    for notation in NOTATIONS:
        if tolerantly(partial(notation.is_in, entry), False, entry):
            yield "notation", notation.id
    for number, condition in _conditions_of(entry.operation):
        if (condition.statuses is None or entry.status in condition.statuses) and tolerantly(
            partial(condition.holds, entry), False, entry
        ):
            yield "clause", number


@cache
def _conditions_of(operation: str | None) -> tuple[tuple[str, When], ...]:
    """The conditions that a request of an operation may fulfil by itself."""
    return tuple(
        (number, condition)
        for number, condition in CONDITIONS.items()
        if isinstance(condition, When) and (condition.operations is None or operation in condition.operations)
    )


# What their order shows


def _order_counts_of(project_key: str, kept: Sequence[Kept], fresh: Container[int]) -> Counts:
    entries = [Entry.read(each, each.entry) for each in kept if each.entry is not None]
    by_number = {entry.number: entry for entry in entries}
    counts: Counts = {}
    observed = observe(entries)
    for number, found in sorted(observed.found.items()):
        for each in found:
            if number in fresh:
                add_one(counts, "finding", each.finding.id, _example(project_key, by_number[number], each.detail))
    for episode in episodes(entries, observed.again):
        if episode.requests[0] in fresh:
            add_one(counts, "recovery", outcome_name(episode.trouble, episode.outcome), _told(project_key, episode))
    for number, condition in CONDITIONS.items():
        if isinstance(condition, Then):
            for request in condition.numbers(entries):
                if request in fresh:
                    add_one(counts, "clause", number)
    return counts


def outcome_name(trouble: str, outcome: Outcome) -> str:
    """The name under which episodes that are alike are counted."""
    return f"{trouble} {outcome}"


def _example(project_key: str, entry: Entry, detail: str) -> str:
    return json.dumps(
        {
            "projectKey": project_key,
            "request": entry.number,
            "method": entry.method,
            "target": entry.target[:_TARGET_AT_MOST],
            "detail": detail,
        }
    )


def _told(project_key: str, episode: Episode) -> str:
    return json.dumps({"projectKey": project_key, **episode.described()})
