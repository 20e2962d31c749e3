"""The SQL of runs: what the projects of one run of tests have exercised, as counts that workers add to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

from uuid_utils.compat import uuid7

from app.database.connection import Connection

RUNS_AT_MOST = 1000

EXAMPLES_KEPT = 20
"""Of each kind of thing that is counted."""

_ID: LiteralString = "SELECT id FROM sandbox_run WHERE run = %(run)s"

_BEGIN: LiteralString = """
INSERT INTO sandbox_run AS r (run, id, created_at, kept_until)
VALUES (%(run)s, %(id)s, %(created_at)s, %(kept_until)s)
ON CONFLICT (run) DO UPDATE SET kept_until = greatest(r.kept_until, excluded.kept_until) RETURNING id"""

_HOW_MANY: LiteralString = "SELECT count(*) FROM sandbox_run"

# While a transaction has this lock, the run is not removed.
_KEEP: LiteralString = "SELECT FROM sandbox_run WHERE id = %(run_id)s FOR KEY SHARE"

# In the order of the key, so that no two workers wait for each other.
_ADD: LiteralString = """
INSERT INTO sandbox_run_count AS c (run_id, kind, name, n, examples)
SELECT %(run_id)s, a.kind, a.name, a.n, string_to_array(a.examples, E'\\n')
FROM unnest(%(kinds)s::text[], %(names)s::text[], %(numbers)s::bigint[], %(examples)s::text[]) WITH ORDINALITY
    a (kind, name, n, examples, row)
ORDER BY a.row
ON CONFLICT (run_id, kind, name) DO UPDATE
SET n = c.n + excluded.n, examples = (c.examples || excluded.examples)[1:%(examples_kept)s::int]"""

_PROLONG: LiteralString = """
UPDATE sandbox_run SET kept_until = greatest(kept_until, %(kept_until)s) WHERE id = %(run_id)s"""

_COUNTS: LiteralString = """
SELECT kind, name, n, examples FROM sandbox_run_count WHERE run_id = %(run_id)s ORDER BY kind, name"""

_LISTED: LiteralString = """
SELECT r.run, r.id, r.created_at, r.kept_until,
    coalesce((SELECT c.n FROM sandbox_run_count c WHERE c.run_id = r.id AND c.kind = 'project' AND c.name = ''), 0),
    coalesce((SELECT c.n FROM sandbox_run_count c WHERE c.run_id = r.id AND c.kind = 'request' AND c.name = ''), 0)
FROM sandbox_run r WHERE r.run = coalesce(%(run)s, r.run) ORDER BY r.created_at, r.run"""

_REMOVE: LiteralString = "DELETE FROM sandbox_run WHERE run = %(run)s RETURNING id"

_REMOVE_COUNTS: LiteralString = "DELETE FROM sandbox_run_count WHERE run_id = %(run_id)s"

_EXPIRED: LiteralString = """
SELECT r.run FROM sandbox_run r WHERE r.kept_until <= now()
    AND NOT EXISTS (SELECT FROM sandbox_project p WHERE p.run_id = r.id)"""

_JUDGED: LiteralString = """
SELECT project_key, client_id, run_id, judged_us, judged_place FROM sandbox_project
WHERE project_key = %(project_key)s AND run_id IS NOT NULL"""

_JUDGED_OF_RUN: LiteralString = """
SELECT project_key, client_id, run_id, judged_us, judged_place FROM sandbox_project
WHERE run_id = %(run_id)s ORDER BY created_at, project_key"""

# What was read is a condition: of two workers that judge the same entries, one counts them.
_SET_JUDGED: LiteralString = """
UPDATE sandbox_project SET judged_us = %(until_us)s, judged_place = %(until_place)s
WHERE project_key = %(project_key)s AND client_id = %(client_id)s
    AND judged_us = %(judged_us)s AND judged_place = %(judged_place)s RETURNING project_key"""


@dataclass(slots=True)
class Count:
    """How often something was there.

    :param examples: JSON texts without line breaks, the first ones.
    """

    n: int
    examples: list[str]


Counts = dict[tuple[str, str], Count]
"""By kind and name, such as ``status`` and ``200``."""


def add_one(counts: Counts, kind: str, name: str = "", example: str | None = None) -> None:
    """Count something once more."""
    count = counts.get((kind, name))
    if count is None:
        count = counts[kind, name] = Count(0, [])
    count.n += 1
    if example is not None and len(count.examples) < EXAMPLES_KEPT:
        count.examples.append(example)


@dataclass(frozen=True, slots=True)
class Run:
    """A run.

    :param kept_until: when it is removed, if none of its projects is left then.
    :param projects: how many have been made, also those that are gone.
    :param requests: how many have ended.
    """

    name: str
    id: UUID
    created_at: datetime
    kept_until: datetime
    projects: int
    requests: int


def find_id(connection: Connection, run: str) -> UUID | None:
    """The id of the run with this name; None if there is none."""
    row = connection.execute(_ID, {"run": run}).fetchone()
    return None if row is None else row[0]


def begin(connection: Connection, run: str, now: datetime, ttl_s: int) -> UUID:
    """Begin a run, unless there is one with this name; its id."""
    times = {"created_at": now, "kept_until": now + timedelta(seconds=ttl_s)}
    row = connection.execute(_BEGIN, {"run": run, "id": uuid7(), **times}).fetchone()
    if row is None:
        raise AssertionError("RETURNING gives a row")  # pragma: no cover
    return row[0]


def how_many(connection: Connection) -> int:
    """How many runs there are."""
    row = connection.execute(_HOW_MANY).fetchone()
    return 0 if row is None else row[0]


def add(connection: Connection, run_id: UUID, counts: Counts) -> None:
    """Add to the counts of a run; nothing if it was removed. Within a transaction."""
    if not counts or connection.execute(_KEEP, {"run_id": run_id}).fetchone() is None:
        return
    ordered = sorted(counts.items(), key=lambda each: each[0])
    parameters = {
        "run_id": run_id,
        "kinds": [kind for (kind, _), _ in ordered],
        "names": [name for (_, name), _ in ordered],
        "numbers": [count.n for _, count in ordered],
        "examples": ["\n".join(count.examples) for _, count in ordered],
        "examples_kept": EXAMPLES_KEPT,
    }
    connection.execute(_ADD, parameters)


def prolong(connection: Connection, run_id: UUID, now: datetime, ttl_s: int) -> None:
    """Keep a run from now on for its time."""
    connection.execute(_PROLONG, {"run_id": run_id, "kept_until": now + timedelta(seconds=ttl_s)})


def counts(connection: Connection, run_id: UUID) -> Counts:
    """All counts of a run."""
    rows: Iterable[tuple[str, str, int, list[str]]] = connection.execute(_COUNTS, {"run_id": run_id}).fetchall()
    return {(kind, name): Count(n, examples) for kind, name, n, examples in rows}


def merged(some: Counts, others: Mapping[tuple[str, str], Count]) -> Counts:
    """Counts added up."""
    made = {key: Count(count.n, list(count.examples)) for key, count in some.items()}
    for key, other in others.items():
        count = made.setdefault(key, Count(0, []))
        count.n += other.n
        count.examples = [*count.examples, *other.examples][:EXAMPLES_KEPT]
    return made


def listed(connection: Connection, run: str | None = None) -> list[Run]:
    """All runs, oldest first, or the one with this name."""
    return [Run(*row) for row in connection.execute(_LISTED, {"run": run}).fetchall()]


def remove(connection: Connection, run: str) -> bool:
    """Remove a run with its counts; its projects stay, and are counted no more. False if there is none."""
    row = connection.execute(_REMOVE, {"run": run}).fetchone()
    if row is None:
        return False
    connection.execute(_REMOVE_COUNTS, {"run_id": row[0]})
    return True


def expired(connection: Connection) -> list[str]:
    """The runs whose time is over."""
    return [row[0] for row in connection.execute(_EXPIRED).fetchall()]


@dataclass(frozen=True, slots=True)
class Judged:
    """A project of a run, and the position of the last entry of its journal whose order was judged for the run."""

    project_key: str
    client_id: str
    run_id: UUID
    position: tuple[int, int]


def judged(connection: Connection, project_key: str) -> Judged | None:
    """How far the journal of a project was judged; None for a project without a run."""
    row = connection.execute(_JUDGED, {"project_key": project_key}).fetchone()
    return None if row is None else _judged(row)


def judged_of_run(connection: Connection, run_id: UUID) -> list[Judged]:
    """The same of all projects of a run that are left, oldest first."""
    rows = connection.execute(_JUDGED_OF_RUN, {"run_id": run_id}).fetchall()
    return [_judged(row) for row in rows]


def _judged(row: tuple[Any, ...]) -> Judged:
    project_key, client_id, run_id, judged_us, judged_place = row
    return Judged(project_key, client_id, run_id, (judged_us, judged_place))


def set_judged(connection: Connection, before: Judged, until: tuple[int, int]) -> bool:
    """Note that a journal was judged further; False if somebody else has judged it meanwhile, or it is gone."""
    parameters = {
        "project_key": before.project_key,
        "client_id": before.client_id,
        "judged_us": before.position[0],
        "judged_place": before.position[1],
        "until_us": until[0],
        "until_place": until[1],
    }
    return connection.execute(_SET_JUDGED, parameters).fetchone() is not None
