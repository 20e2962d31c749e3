"""Counts the rows that PostgreSQL reads for each statement of a walk, by the scans that ``auto_explain`` reports.

Rows are counted instead of time: they show the access path, and are the same on a busy machine. The statements are sent
like those of the service, prepared and with typed parameters, so that they get the same plans. Statements inside
functions and triggers are counted too.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg

from app.bulk import seed
from app.database import migrate
from app.database.admission import Lane
from app.database.connection import Connection
from app.extension import installed_package
from app.resource import bulk_store
from app.resource.model import TOTAL_AT_MOST
from tests.support.cluster import Cluster
from tests.support.folders import NOT_DURABLE, open_folder
from tests.support.statements import Statement
from tests.support.walk import Walked

SETTINGS = {
    **NOT_DURABLE,
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_timing": "off",
    "autovacuum": "off",  # the tests say when tables are analysed
}
"""Settings of a server that sends the plan of each statement to clients that receive notices."""

MODES = ("force_custom_plan", "force_generic_plan")
"""How a prepared statement can be planned: for its parameters, or once for all."""

FEW = 1_500
"""How many rows a fast statement may read; in a large project a hundredth of the project.

That share of a large project has the parameter values that the walk uses.
"""

TIMES_AT_MOST = 6
"""How often a slow statement may read a project: by an index and by the table, for page, total and facet."""

ABOUT_ALL = {
    "bulk.copy_in", "bulk.delete_all", "bulk.delete_in_parts", "bulk.count_and_bytes",
    "dictionary.add_words_of_all", "dictionary.remove_unused_words",
}  # fmt: skip
"""Steps of the walk that may read a whole project, in addition to those in the slow lane."""

WHAT_NEXT = """
A statement in the fast lane may read few rows, or 1 % of the project, with any statistics. `tests/support/plans.py`
shows its plan: EXPLAIN (ANALYZE, BUFFERS) of the statement with the parameters of the walk. Either give its
condition an index that serves it in every mode (migrations/ has those that there are), or, if what a client
asks has to read the whole project, say so in the row of its field or operator (`indexed`): its lane follows."""
"""The end of the failure message for a statement that reads too much: what to do about it."""


def counted(resources: int) -> int:
    """The largest total in a project of this size, used instead of :data:`TOTAL_AT_MOST`.

    With it a project of 10,000 resources behaves like one of 300,000, and one of 300,000 like one of two million:
    counting stops early, and queries with more matches are read in the order of the page.
    """
    return max(300, resources // 200)


@dataclass(frozen=True, slots=True)
class Project:
    """A project to read, with values that few of its resources have."""

    key: str
    resources: int
    values: Mapping[str, Any]
    """Values of the parameters of statements, by their names."""


@dataclass(slots=True)
class Planner:
    """A database, and a connection that learns the plans of its statements."""

    connection: Connection
    _plans: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        def keep(diagnostic: psycopg.errors.Diagnostic) -> None:
            if diagnostic.message_primary and "plan:" in diagnostic.message_primary:
                self._plans.append(diagnostic.message_primary)

        self.connection.add_notice_handler(keep)

    def load(self, key: str, count: int) -> Project:
        """Make a project of made-up resources by an import, without an update of the statistics."""
        bulk_store.copy_in(self.connection, key, seed.resources(key, count, 0))
        return Project(key, count, self._values(key))

    def analyse(self) -> None:
        self.connection.execute("ANALYZE")

    def _values(self, key: str) -> dict[str, Any]:
        parameters = {"project_key": key}
        row = self.connection.execute(
            "SELECT id, key, version, created_by FROM resource WHERE project_key = %(project_key)s AND key IS NOT NULL"
            " ORDER BY id LIMIT 1 OFFSET 7",
            parameters,
        ).fetchone()
        word = self.connection.execute(
            "SELECT w.word FROM resource r, unnest(tsvector_to_array(r.words)) w (word)"
            " WHERE r.project_key = %(project_key)s AND length(w.word) = 7"
            " GROUP BY 1 ORDER BY abs(count(*) - 5), 1 LIMIT 1",
            parameters,
        ).fetchone()
        if row is None or word is None:
            raise LookupError(key)
        return {
            "project_key": key,
            "id": row[0],
            "created_by": row[3],
            "key": row[1],
            "read_version": row[2],
            "ids": [row[0]],
            "texts": [word[0]],
            "tsquery": f"'{word[0]}'",
        }

    def rows_read(self, statement: Statement, project: Project, mode: str) -> Counter[str]:
        """The number of rows that a statement reads in a project, by the table or index of each scan.

        Rows that a filter or a recheck removes count too. The statement is rolled back.
        """
        self._plans.clear()
        with self.connection.transaction(force_rollback=True):
            self.connection.execute("SELECT set_config('plan_cache_mode', %s, true)", (mode,))
            self.connection.execute("SET LOCAL client_min_messages = notice")
            self.connection.execute(
                _COUNT_CAP.sub(str(counted(project.resources)), statement.text),  # pyright: ignore[reportArgumentType] -- of the service
                _fitting(statement, project.values),
            )
        read = Counter[str]()
        for plan in self._plans:
            _count(json.loads(plan[plan.index("{") :])["Plan"], read)
        return read

    def keeps_its_plan(self, statement: Statement, project: Project) -> bool:
        """Whether PostgreSQL reuses the plan of a prepared statement after some executions. They are rolled back."""
        with self.connection.transaction(force_rollback=True):
            for _ in range(_PLANNED_ANEW + 1):
                self.connection.execute(
                    statement.text,  # pyright: ignore[reportArgumentType] -- a text that the service has sent
                    _fitting(statement, project.values),
                )
            row = self.connection.execute(
                "SELECT generic_plans FROM pg_prepared_statements WHERE generic_plans + custom_plans > 1"
            ).fetchone()
        return row is not None and row[0] > 0


_COUNT_CAP = re.compile(rf"\b{TOTAL_AT_MOST}\b")

_PLANNED_ANEW = 5
"""How many executions of a prepared statement PostgreSQL plans, before it considers one plan for all values."""


@contextmanager
def open_planner() -> Iterator[Planner]:
    """A planner with an empty migrated database, on a server of its own, because the settings are server-wide."""
    with open_folder() as folder, Cluster(folder / "data", SETTINGS) as server:
        url = server.create_database("plans")
        migrate.upgrade(url, installed_package().migrations)
        with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
            connection.execute("SET client_min_messages = warning")
            yield Planner(connection)


def statements_of_projects(walked: Walked) -> dict[str, Statement]:
    """The different statements of a walk that read or write a project, each by the step that sends it first."""
    seen: set[str] = set()
    found: dict[str, Statement] = {}
    for step, statements in walked.steps.items():
        for number, statement in enumerate(statements, start=1):
            if isinstance(statement.parameters, dict) and "project_key" in statement.parameters:
                if statement.text not in seen:
                    found[f"{step}.{number}"] = statement
                seen.add(statement.text)
    return found


Reads = dict[tuple[str, str], Counter[str]]
"""The rows that were read, by the step and the planning mode of its statement."""


def may_read_all(walked: Walked, step: str) -> bool:
    """Whether the statement of a step may read a whole project.

    It may if the step uses only the slow lane, or is one of :data:`ABOUT_ALL`.
    """
    name = step.rpartition(".")[0]
    return walked.lanes[name] == {Lane.SLOW} or name in ABOUT_ALL


def reads(planner: Planner, walked: Walked, project: Project) -> Reads:
    """The rows that each statement reads in a project, in both planning modes.

    A statement that may read the whole project is planned in one mode only.
    """
    return {
        (step, mode): planner.rows_read(statement, project, mode)
        for step, statement in statements_of_projects(walked).items()
        for mode in (MODES[-1:] if may_read_all(walked, step) else MODES)
    }


def too_much(found: Reads, walked: Walked, project: Project) -> list[str]:
    """Descriptions of the statements that have read more rows of a project than they may."""
    few, all_of_it = max(FEW, project.resources // 100), max(FEW, TIMES_AT_MOST * project.resources)
    return [
        f"{step} in {project.key}, {mode}: {', '.join(f'{count} rows of {name}' for name, count in read.most_common())}"
        for (step, mode), read in found.items()
        if read.total() > (all_of_it if may_read_all(walked, step) else few)
    ]


def excesses(planner: Planner, walked: Walked, project: Project) -> list[str]:
    """Run each statement of a walk in a project, and describe those that read more rows than they may."""
    return too_much(reads(planner, walked, project), walked, project)


_OF_RESOURCES = ("id", "key")


def _fitting(statement: Statement, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a statement with the values of a project, in their types. Ids and keys to create are kept."""
    fitting = dict(statement.parameters)
    creates = "INSERT INTO resource " in statement.text
    for name, value in values.items():
        if creates and name in _OF_RESOURCES:
            continue
        if isinstance(fitting.get(name), str) and isinstance(value, UUID):
            fitting[name] = str(value)
        elif fitting.get(name) is not None:
            fitting[name] = value * len(fitting[name]) if name == "texts" else value
    return fitting


def _count(node: Mapping[str, Any], read: Counter[str]) -> None:
    scanned = node.get("Relation Name") or (node["Node Type"] == "Bitmap Index Scan" and node["Index Name"])
    if scanned and node["Node Type"] != "ModifyTable":
        removed = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
        # A plan node that was never executed has no actual rows.
        read[scanned] += round((node.get("Actual Rows", 0) + removed) * node.get("Actual Loops", 0))
    inner: Sequence[Mapping[str, Any]] = node.get("Plans", ())
    for each in inner:
        _count(each, read)
