"""The report on a run of tests: as that on a project, made of what was counted of the requests of all its projects."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from app import errors
from app.database.pool import Database
from app.sandbox.analysis.coverage import CONDITIONS, Covered, State, clauses
from app.sandbox.analysis.findings import FINDINGS
from app.sandbox.analysis.notations import NOTATIONS
from app.sandbox.analysis.recovery import Outcome
from app.sandbox.analysis.report import counted_part, specification_part
from app.sandbox.analysis.run_counts import order_counts, outcome_name
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.entries import TROUBLES
from app.sandbox.projects import runs
from app.sandbox.projects.runs import Counts
from app.values.timestamps import text_of

_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""What leaves a journal meanwhile is counted either in the run or in the journal, and not in both or in none."""


class Runs:
    """The runs of a database.

    :param flush: has all workers write what their journals have in memory.
    """

    def __init__(self, database: Database, flush: Callable[[], None]) -> None:
        self._database = database
        self._flush = flush

    def described(self) -> list[dict[str, Any]]:
        """All runs, oldest first."""
        self._flush()
        with self._database.connection() as connection:
            found = runs.listed(connection)
        return [
            {
                "run": each.name,
                "createdAt": text_of(each.created_at),
                "keptUntil": text_of(each.kept_until),
                "projects": each.projects,
                "requests": each.requests,
            }
            for each in found
        ]

    def report(self, run: str) -> dict[str, Any]:
        """The report of a run, also of the requests that are still in journals.

        :raises ApiError: 404.
        """
        self._flush()
        with self._database.connection() as connection, connection.transaction():
            connection.execute(_SNAPSHOT)
            run_id = runs.find_id(connection, run)
            if run_id is None:
                raise _not_found(run)
            counts = runs.counts(connection, run_id)
            under_way = 0
            for project in runs.judged_of_run(connection, run_id):
                kept = journal_store.whole(connection, project.project_key)
                under_way += sum(each.ended_us is None for each in kept)
                counts = runs.merged(counts, order_counts(project, kept))
        return _made(run, counts, under_way)

    def remove(self, run: str) -> None:
        """Remove a run. Its projects stay, and are counted no more.

        :raises ApiError: 404.
        """
        with self._database.connection() as connection, connection.transaction():
            if not runs.remove(connection, run):
                raise _not_found(run)


def _not_found(run: str) -> errors.ApiError:
    """404: no project belongs or belonged to a run with this name, or its time is over."""
    return errors.ApiError([errors.Fault("ResourceNotFound", f"The sandbox has no run '{run[:100]}'.")])


def _made(run: str, counts: Counts, under_way: int) -> dict[str, Any]:
    def numbers(kind: str) -> dict[str, int]:
        return {name: count.n for (each, name), count in counts.items() if each == kind}

    total = numbers("request").get("", 0)
    exercised = numbers("clause")
    return {
        "run": run,
        "projects": numbers("project").get("", 0),
        "requests": {"total": total, "kept": total, "underWay": under_way},
        "specification": specification_part(
            [Covered(clause, _state(clause.number, exercised), ()) for clause in clauses()]
        ),
        "notations": [
            {"id": each.id, "title": each.title, "count": numbers("notation").get(each.id, 0), "requests": []}
            for each in NOTATIONS
        ],
        "operations": counted_part("operationId", numbers("operation")),
        "statuses": counted_part("status", numbers("status")),
        "recovery": {trouble: _recovery(trouble, counts) for trouble in TROUBLES},
        "findings": _findings(counts),
    }


def _state(clause: str, exercised: Mapping[str, int]) -> State:
    if clause not in CONDITIONS:
        return State.NOT_OBSERVABLE
    return State.EXERCISED if clause in exercised else State.NOT_EXERCISED


def _recovery(trouble: str, counts: Counts) -> dict[str, Any]:
    found = {
        outcome: counts.get(("recovery", outcome_name(trouble, outcome)), runs.Count(0, [])) for outcome in Outcome
    }
    worst_first = reversed(found.values())
    return {
        **{str(outcome): count.n for outcome, count in found.items()},
        "episodes": [json.loads(each) for count in worst_first for each in count.examples],
    }


def _findings(counts: Counts) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for finding in FINDINGS:
        count = counts.get(("finding", finding.id))
        if count is not None:
            examples = [json.loads(each) for each in count.examples]
            described = finding.described(examples[0]["detail"])
            made.append({**described, "count": count.n, "requests": [], "examples": examples})
    return made
