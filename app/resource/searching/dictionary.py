"""The dictionary: the table ``word`` with all words of each project.

The dictionary finds words by stem and by spelling. Triggers add the words of each write in its transaction (the first
migration has them). Citus distributes no table with triggers, so the service calls :func:`add_words_of` there. A word
that no resource has any more finds no resource, but counts among the words that match a search, whose number is
limited. It stays in the dictionary until :func:`remove_unused_words`, or until all
resources of the project are deleted.
"""

from collections.abc import Collection
from typing import LiteralString
from uuid import UUID

from app.database.connection import Connection
from app.query.fields import HAS_STAGED_CHANGES, WORDS


def add_words_of_all(connection: Connection, project_key: str) -> None:
    """Add the words of all resources of a project to the dictionary; words that it already has are skipped.

    This is for a bulk load on a Citus cluster, where no trigger adds the words. It also repairs the dictionary after
    :func:`remove_unused_words`, which may have removed words that are needed.
    """
    connection.execute(_ADD_WORDS_OF_ALL, {"project_key": project_key})


def add_words_of(connection: Connection, project_key: str, ids: Collection[UUID]) -> None:
    """Add the words of some resources to the dictionary. To be called last in the transaction that writes the
    resources, because from then on other writes that add the same words wait for the end of the transaction."""
    connection.execute(_ADD_WORDS_OF_SOME, {"project_key": project_key, "ids": list(ids)})


def remove_unused_words(connection: Connection, project_key: str) -> int:
    """Remove from a project's dictionary the words that no resource has, and return their number.

    This may remove a word that is needed. A write does not add a word that it finds in the dictionary. Until the write
    is committed, the removal does not see the resource of the write, and takes the word for unused. So the caller has
    to wait until all writes that overlap with the removal have ended, and then call :func:`add_words_of_all`, which
    adds such words again. A word that a resource gets only after the removal is safe: the write that brings the word
    also adds it.
    """
    return connection.execute(_REMOVE_UNUSED, {"project_key": project_key}).rowcount


def _words_of_resources(which: LiteralString) -> LiteralString:
    """The query of the words of a project's resources, in both projections. The condition HAS_STAGED_CHANGES
    changes no result: it only skips resources whose staged words are NULL, of which ``unnest`` would make no rows.

    :param which: a further condition on ``r``, beginning with AND; empty for all resources.
    """
    return f"""
    SELECT r.project_key, w.word FROM resource r, unnest({WORDS.current}) w (word)
    WHERE r.project_key = %(project_key)s {which}
    UNION
    SELECT r.project_key, w.word FROM resource r, unnest({WORDS.staged}) w (word)
    WHERE r.project_key = %(project_key)s AND {HAS_STAGED_CHANGES} {which}"""


def _adding(query: LiteralString) -> LiteralString:
    """The statement that adds the words of a query to the dictionary.

    Transactions that add the same words wait for one another, and could deadlock if they added them in different
    orders. So ORDER BY gives the order that the triggers have, with the same collation.

    :param query: selects ``project_key`` and ``word``. Its ``project_key`` has to be the column ``r.project_key``, and
        not the value ``%(project_key)s``. Only with the column does Citus let one worker execute the whole statement;
        otherwise the transaction would need a two-phase commit.
    """
    return f"""
    INSERT INTO word (project_key, word)
    SELECT w.project_key, w.word
    FROM ({query}) w
    ORDER BY w.word COLLATE "C"
    ON CONFLICT DO NOTHING"""


_REMOVE_UNUSED: LiteralString = f"""
    DELETE FROM word w
    WHERE w.project_key = %(project_key)s
        AND NOT EXISTS (SELECT FROM ({_words_of_resources("")}) used WHERE used.word = w.word)"""

_ADD_WORDS_OF_ALL = _adding(_words_of_resources(""))
_ADD_WORDS_OF_SOME = _adding(_words_of_resources("AND r.id = ANY (%(ids)s)"))
