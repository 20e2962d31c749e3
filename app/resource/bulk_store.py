"""The SQL on many resources at once: bulk loading, counting and deleting. Callers have checked the values."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import LiteralString
from uuid import UUID

from app.database.connection import Connection, has_citus
from app.resource.model import ResourceRow
from app.resource.searching import dictionary

STORED: LiteralString = (
    "id, version, key, created_at, last_modified_at, created_by, last_modified_by,"
    " object_type, some_property, staged_object_type, staged_some_property"
)
"""The columns of :class:`ResourceRow`, in the order of its fields.

The other columns of the table are ``project_key``, the columns that PostgreSQL generates, and the mark
``created_as_only``. Bulk loading and restoring do not set the mark, because it only decides a race between two PUTs.
"""

_COPY: LiteralString = f"COPY resource (project_key, {STORED}) FROM STDIN"

_EXISTING_IDS: LiteralString = """
    SELECT r.id FROM resource r WHERE r.project_key = %(project_key)s AND r.id = ANY (%(ids)s)"""

_TIDY: LiteralString = "VACUUM (ANALYZE) resource, word, resource_count"

_BYTES: LiteralString = """octet_length(r.object_type) + coalesce(octet_length(r.some_property), 0)
        + coalesce(octet_length(r.staged_object_type), 0) + coalesce(octet_length(r.staged_some_property), 0)"""
"""SQL of the bytes of a resource's ObjectTypes and someProperty texts. PostgreSQL knows the bytes of a stored text
without reading the text."""

_COUNT_AND_BYTES: LiteralString = f"""
    SELECT count(*), coalesce(sum({_BYTES}), 0)
    FROM resource r WHERE r.project_key = %(project_key)s"""

_DELETE_SOME: LiteralString = """
    DELETE FROM resource r
    WHERE r.project_key = %(project_key)s AND r.id = ANY (ARRAY(
        SELECT s.id FROM resource s WHERE s.project_key = %(project_key)s LIMIT %(at_once)s))"""

_DELETED_AT_ONCE = 5_000

# The order matters. The first statement has a trigger that changes the counts, so the counts are deleted after it. The
# words come last, because a write locks counts before words: in another order the two could deadlock.
_DELETE_ALL: tuple[LiteralString, ...] = (
    "DELETE FROM resource r WHERE r.project_key = %(project_key)s",
    "DELETE FROM resource_count c WHERE c.project_key = %(project_key)s",
    "DELETE FROM word w WHERE w.project_key = %(project_key)s",
)


def copy_in(connection: Connection, project_key: str, resources: Iterable[ResourceRow]) -> None:
    """Load many resources by COPY, and add their words to the dictionary of the text search, in one transaction.

    :raises UniqueViolation: if an id or a key is in use; then no resource is loaded. If Citus distributes the table,
        the error has another SQLSTATE, so psycopg raises another class, and ``except UniqueViolation`` misses it.
    """
    with connection.transaction():
        with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            for resource in resources:
                copy.write_row((project_key, *astuple(resource)))
        if has_citus(connection):  # without Citus, triggers add the words
            dictionary.add_words_of_all(connection, project_key)


def tidy(connection: Connection) -> None:
    """Vacuum and analyse the tables of projects after many rows were loaded. The tables stay readable and writable.

    Until VACUUM has run, index-only scans read each new row in the table, too.

    :param connection: in autocommit mode, because VACUUM cannot run in a transaction.
    """
    connection.execute(_TIDY)


def existing_ids(connection: Connection, project_key: str, ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids, out of ``ids``, that resources of the project have."""
    rows = connection.execute(_EXISTING_IDS, {"project_key": project_key, "ids": list(ids)}).fetchall()
    return {row[0] for row in rows}


def count_and_bytes(connection: Connection, project_key: str) -> tuple[int, int]:
    """The number of resources of a project, and the bytes of their ObjectTypes and someProperty texts."""
    return connection.execute(_COUNT_AND_BYTES, {"project_key": project_key}).fetchall()[0]


def delete_in_parts(connection: Connection, project_key: str) -> int:
    """Delete the resources of a project by many short statements, and return how many were deleted.

    One statement for a large project could exceed the statement timeout, and lose its work if it is interrupted. After
    an interruption the resources that are not deleted yet stay. When this function has returned, the caller has to
    call :func:`delete_all`, which deletes the words, the counts, and resources that were written meanwhile.

    The function ends when a statement deletes nothing. If two calls for one project run at the same time, one of them
    may end too early: its statement waits for rows that the other call is deleting, and then finds them gone.

    :param connection: in autocommit mode.
    """
    parameters = {"project_key": project_key, "at_once": _DELETED_AT_ONCE}
    deleted = 0
    while rows := connection.execute(_DELETE_SOME, parameters).rowcount:
        deleted += rows
    return deleted


def delete_all(connection: Connection, project_key: str) -> None:
    """Delete all resources of a project, the project's counts of resources, and its words in the dictionary.

    If another connection writes a resource at the same time, the resource may escape the deletion, while its words are
    deleted and it is no longer counted. Then a search may miss the resource, and the ``total`` of the project's pages
    may be wrong, until this function is called again.

    :param connection: in a transaction, so that all is deleted or nothing.
    """
    for statement in _DELETE_ALL:
        connection.execute(statement, {"project_key": project_key})
