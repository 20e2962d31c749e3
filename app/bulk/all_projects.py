"""What operators do with all projects at once: list them, and remove words that no resource has."""

import time
from collections.abc import Generator
from typing import LiteralString

from app.database.connection import Connection
from app.resource.searching import dictionary

# The counts that triggers keep would be quicker, but a Citus cluster has none.
_COUNTS: LiteralString = "SELECT r.project_key, count(*) FROM resource r GROUP BY r.project_key ORDER BY r.project_key"

_PROJECTS_WITH_WORDS: LiteralString = "SELECT w.project_key FROM word w GROUP BY w.project_key ORDER BY w.project_key"


def projects(connection: Connection) -> list[tuple[str, int]]:
    """The projects that have resources, ordered by key: each project's key and the number of its resources."""
    return connection.execute(_COUNTS).fetchall()


def remove_unused_words(connection: Connection, wait_s: float) -> Generator[tuple[str, int]]:
    """Remove from each project's dictionary the words that no resource has, and yield the project's key and how many
    were removed.

    A write does not add a word that it finds in the dictionary. While the write is under way, the removal does not see
    its resource, and may take that word. So this function then waits for such writes to end, and adds the words of all
    resources again. The writes of ``seed`` have no time limit, so it must not run meanwhile.

    :param connection: in autocommit mode.
    :param wait_s: seconds to wait. Every write has to end within this time from the start of its statement that adds
        words.
    """
    then_wait_s: float | None = None  # None: no words are added again, because this call stopped before it removed any
    try:
        for (project_key,) in connection.execute(_PROJECTS_WITH_WORDS).fetchall():
            removed = dictionary.remove_unused_words(connection, project_key)
            then_wait_s = wait_s if removed else then_wait_s
            yield project_key, removed
        then_wait_s = then_wait_s or 0.0  # also if this call removed nothing: an earlier one may have been interrupted
    finally:  # also if the caller stops early
        if then_wait_s is not None and not connection.closed:
            time.sleep(then_wait_s)
            for project_key, _ in projects(connection):
                dictionary.add_words_of_all(connection, project_key)
