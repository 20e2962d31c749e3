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
    """The keys of the projects that have resources, in order, each with their number."""
    return connection.execute(_COUNTS).fetchall()


def remove_unused_words(connection: Connection, wait_s: float) -> Generator[tuple[str, int]]:
    """Remove the words of all projects that no resource has, and yield each project with the number of removed words.

    A write that found a word before its removal did not add it. So this function then waits until such writes have
    ended, and adds the words of all resources again. ``seed`` must not run meanwhile, because it has no time limit.

    :param connection: in autocommit mode.
    :param wait_s: seconds within which a transaction ends after its statement that adds words has begun.
    """
    is_any_removed = False
    try:
        for (project_key,) in connection.execute(_PROJECTS_WITH_WORDS).fetchall():
            removed = dictionary.remove_unused_words(connection, project_key)
            is_any_removed |= removed > 0
            yield project_key, removed
    finally:  # also if the caller stops early
        if is_any_removed:
            time.sleep(wait_s)
        for project_key, _ in projects(connection):  # also if this call removed nothing: an interrupted one may have
            dictionary.add_words_of_all(connection, project_key)
