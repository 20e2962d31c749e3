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
    """Remove from each project's dictionary the words that no resource has. Yield each project's key, with the number
    of its removed words.

    The removal may take a word that is needed. A write does not add a word that is already in the dictionary, and the
    removal does not see the resource of the write before the write is committed. So after the last removal this
    function waits until such writes have ended, and then adds the words of all resources again. The command ``seed``
    must not run at the same time, because its writes have no time limit.

    :param connection: in autocommit mode.
    :param wait_s: the seconds to wait after the last removal. A write adds its words in a statement, and ends some time
        after that. ``wait_s`` is the longest time between the start of that statement and the end of the write.
    """
    # None: no word has been removed yet. If the caller stops early in this state, ``finally`` adds no words.
    # A number: ``finally`` waits for this number of seconds, and then adds the words of all resources.
    pause_s: float | None = None
    try:
        for (project_key,) in connection.execute(_PROJECTS_WITH_WORDS).fetchall():
            removed = dictionary.remove_unused_words(connection, project_key)
            pause_s = wait_s if removed else pause_s
            yield project_key, removed
        # If the whole loop has removed nothing, ``finally`` adds the words without a wait. They may be needed, because
        # an earlier call may have been interrupted after its removal and before it added words.
        pause_s = pause_s or 0.0
    finally:  # also if the caller stops early
        if pause_s is not None and not connection.closed:
            time.sleep(pause_s)
            for project_key, _ in projects(connection):
                dictionary.add_words_of_all(connection, project_key)
