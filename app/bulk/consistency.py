"""Compares the data that are derived from resources with the resources.

Derived are the number of a project's resources and the dictionary of its words. Triggers keep both; on Citus, the
writes of the service keep the dictionary. They can be wrong after changes without triggers: SQL with triggers switched
off, on Citus any SQL that the service does not send, or a table that is no longer distributed.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import LiteralString

from psycopg import IsolationLevel

from app.database.connection import NO_LIMITS, Connection, unlimited
from app.query.fields import HAS_STAGED_CHANGES, WORDS
from app.resource.searching import dictionary

_PROJECTS: LiteralString = """
    SELECT project_key FROM resource GROUP BY project_key
    UNION SELECT project_key FROM resource_count GROUP BY project_key
    ORDER BY project_key"""

_KEPT_COUNTS: LiteralString = """
    SELECT c.project_key, sum(c.resources)::bigint FROM resource_count c
    GROUP BY c.project_key HAVING sum(c.resources) > 0 ORDER BY c.project_key"""

_COUNTS: LiteralString = """
    SELECT
        (SELECT count(*) FROM resource r WHERE r.project_key = %(project_key)s),
        (SELECT sum(c.resources) FROM resource_count c WHERE c.project_key = %(project_key)s)"""

_CORRECT: LiteralString = """
    INSERT INTO resource_count AS kept (project_key, slot, resources) VALUES (%(project_key)s, 0, %(difference)s)
    ON CONFLICT (project_key, slot) DO UPDATE SET resources = kept.resources + excluded.resources"""

_PROJECTS_WITH_WORDS: LiteralString = "SELECT w.project_key FROM word w GROUP BY w.project_key ORDER BY w.project_key"

_MISSING_WORDS: LiteralString = f"""
    SELECT count(*) FROM (
        (SELECT w.word FROM resource r, unnest({WORDS.current}) w (word) WHERE r.project_key = %(project_key)s
         UNION
         SELECT w.word FROM resource r, unnest({WORDS.staged}) w (word)
         WHERE r.project_key = %(project_key)s AND {HAS_STAGED_CHANGES})
        EXCEPT SELECT w.word FROM word w WHERE w.project_key = %(project_key)s) m"""


def projects(connection: Connection) -> list[tuple[str, int]]:
    """The keys of the projects that have resources, in order, each with the number of resources that triggers have
    counted."""
    with unlimited(connection):
        return connection.execute(_KEPT_COUNTS).fetchall()


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check of one project.

    :param resources: the number of its resources.
    :param kept: the number of resources that triggers have counted; None if no trigger counts, as on Citus.
    :param missing_words: the number of words of its resources that a search does not find.
    """

    project_key: str
    resources: int
    kept: int | None
    missing_words: int

    @property
    def is_consistent(self) -> bool:
        """Whether the derived data of the project are right."""
        return self.missing_words == 0 and self.kept in (None, self.resources)


def check(connection: Connection, *, repair: bool) -> Generator[Finding]:
    """Check all projects, one after the other, and yield a finding for each. Requests can go on.

    :param connection: in autocommit mode.
    :param repair: whether to correct wrong data. A finding shows the state before its repair.
    """
    with unlimited(connection):
        projects = connection.execute(_PROJECTS).fetchall()
    for (project_key,) in projects:
        yield _check(connection, project_key, repair=repair)


def _check(connection: Connection, project_key: str, *, repair: bool) -> Finding:
    of_project = {"project_key": project_key}
    # In one snapshot both numbers contain the same writes, so concurrent writes do not change their difference. Two
    # repairs at the same time would add the difference twice; with REPEATABLE READ the second one fails.
    with _one_snapshot(connection):
        row = connection.execute(_COUNTS, of_project).fetchone()
        resources, kept = row or (0, None)
        if repair and kept is not None and kept != resources:
            connection.execute(_CORRECT, {**of_project, "difference": resources - kept})
    with unlimited(connection):
        row = connection.execute(_MISSING_WORDS, of_project).fetchone()
    missing_words = row[0] if row else 0
    if repair and missing_words:
        with unlimited(connection):
            dictionary.add_words_of_all(connection, project_key)
    return Finding(project_key, resources, None if kept is None else int(kept), missing_words)


def remove_unused_words(connection: Connection, wait_s: float) -> Generator[tuple[str, int]]:
    """Remove the words of all projects that no resource has, and yield each project with the number of removed words.

    Then wait until the writes of requests that began before the removal have ended, and add again the words that they
    need. Imports have no time limit, so none may run meanwhile.

    :param connection: in autocommit mode.
    :param wait_s: seconds within which the write of a request ends.
    """
    with unlimited(connection):
        projects = [project_key for (project_key,) in connection.execute(_PROJECTS_WITH_WORDS)]
    removed_from: list[str] = []
    for project_key in projects:
        with unlimited(connection):
            removed = dictionary.remove_unused_words(connection, project_key)
        if removed:
            removed_from.append(project_key)
        yield project_key, removed
    if removed_from:
        time.sleep(wait_s)
    for project_key in removed_from:
        with unlimited(connection):
            dictionary.add_words_of_all(connection, project_key)


@contextmanager
def _one_snapshot(connection: Connection) -> Generator[None]:
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            connection.execute(NO_LIMITS)
            yield
    finally:
        connection.isolation_level = None
