"""The dictionary: the table ``word`` with all words of each project.

The dictionary has to be complete, but to look a word up by stem or by spelling it needs indexes that are dear to
write. So a write only notes the texts in which a new word may be, in the table ``unindexed_text``, in the statement
that writes the resource. A search reads these texts beside the dictionary. :func:`index_texts` moves them to the
dictionary, many at a time, when the project has leisure.

To spare most writes even the note, :class:`WordCache` keeps in memory which words each connection has seen committed.
A word that no resource has any more stays, finds nothing and does no harm; :func:`remove_unused_words` removes it.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import repeat
from time import monotonic
from typing import LiteralString
from uuid import UUID
from weakref import WeakKeyDictionary

from psycopg.pq import TransactionStatus

from app.database.connection import Connection
from app.query.fields import HAS_STAGED_CHANGES, WORDS
from app.query.sql_text import literal

# Writes

NOTED: LiteralString = """
    noted AS (INSERT INTO unindexed_text (project_key, text) VALUES (%(project_key)s, %(new_words)s))"""
"""Notes the text of new words, as the first part of the statement that writes a resource.

It is noted even if that finds nothing to write: an INSERT of the rows that were written would be dearer, and several
times as dear on a distributed table. Two writes that bring the same words do not wait for one another.
"""

_COUNTED_CHARACTERS = 20_000
"""The first characters of the elements of ``arrayOfStringExample``, and of ``someProperty``, are searched."""

_LONGEST_PIECE = 1_000
"""Bytes between blanks; what is longer has no words. The migration that defines ``words_of`` says why."""

_BLANKS = re.compile("[ \t\n\r<]+")
"""The characters that no word extends across; the same migration says why."""

_CACHED_AT_MOST = 10_000
"""Pieces that are cached for each connection."""

_CACHED_LENGTH = 64
"""Characters of a piece that is cached."""

CACHED_FOR_S = 60.0
"""How long a connection remembers words at most."""


@dataclass(frozen=True, slots=True)
class NewWords:
    """The texts of a write, divided at blanks, without the pieces whose words the dictionary certainly has.

    A piece contains one or more words.
    """

    pieces: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there can be new words; if not, the statement need not note a text."""
        return bool(self.pieces)

    @property
    def text(self) -> str:
        """The text that the statement notes."""
        return " ".join(self.pieces)


_NONE = NewWords(())


@dataclass(slots=True)
class _Cached:
    """What is cached for a connection.

    :param pieces: projects and pieces.
    :ivar until: when they are forgotten, by the monotonic clock.
    """

    until: float
    pieces: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


_NOTHING = _Cached(0)


class WordCache:
    """Pieces of texts whose words are noted or in the dictionary, by the connection that has seen it committed.

    A cache for the whole process would outlive a restored database, or one that failed over and lost the last commits.
    Either breaks the connections, and their part of the cache goes with them. Connections to a pooler outlive both, and
    an operator can remove words, so a connection forgets its part after :data:`CACHED_FOR_S`.
    """

    def __init__(self) -> None:
        self._cached: WeakKeyDictionary[Connection, _Cached] = WeakKeyDictionary()

    def new_words(self, connection: Connection, project_key: str, texts: Iterable[Collection[str]]) -> NewWords:
        """The words of a write that the dictionary may lack.

        :param texts: for each value that is searched and written, its texts.
        """
        pieces = dict.fromkeys([piece for value in texts for piece in _pieces(value)])
        if not pieces:
            return _NONE
        known = self._of(connection).pieces
        if known.issuperset(zip(repeat(project_key), pieces, strict=False)):
            return _NONE
        return NewWords(tuple([piece for piece in pieces if (project_key, piece) not in known]))

    def _of(self, connection: Connection) -> _Cached:
        cached = self._cached.get(connection)
        if cached is None or cached.until <= monotonic():
            self._cached.pop(connection, None)
            return _NOTHING
        return cached

    def add(self, connection: Connection, project_key: str, added: NewWords) -> None:
        """Note that a write has added these words, unless its transaction may still be rolled back."""
        if not added or connection.info.transaction_status is not TransactionStatus.IDLE:
            return
        cached = self._cached.get(connection)
        if cached is None:
            cached = self._cached[connection] = _Cached(monotonic() + CACHED_FOR_S)
        known = cached.pieces
        if len(known) + len(added.pieces) > _CACHED_AT_MOST:
            known.clear()
        known.update([(project_key, piece) for piece in added.pieces[:_CACHED_AT_MOST] if len(piece) <= _CACHED_LENGTH])

    def forget(self, project_key: str) -> None:
        """Forget the pieces of a project, whose words have been deleted from the dictionary."""
        for cached in list(self._cached.values()):
            cached.pieces = {each for each in tuple(cached.pieces) if each[0] != project_key}

    def size(self, connection: Connection) -> int:
        """The number of pieces that are cached for a connection."""
        return len(self._of(connection).pieces)


def _pieces(texts: Collection[str]) -> list[str]:
    """The texts of one value, divided as ``words_of`` divides them."""
    if not texts:
        return []
    # With a blank before each text, as there: the limit counts it.
    joined = f" {' '.join(texts)}"[:_COUNTED_CHARACTERS]
    pieces = [piece for piece in _BLANKS.split(joined) if piece]
    return [piece for piece in pieces if len(piece.encode()) <= _LONGEST_PIECE] if len(joined) > 250 else pieces


# Indexing

_TEXTS_AT_ONCE = 64
"""Texts of one piece of work, which takes some milliseconds."""

_LEFT_AT_MOST = literal(10_000)

_TAKE_TEXTS: LiteralString = f"""
    SELECT u.id FROM unindexed_text u WHERE u.project_key = %(project_key)s
    LIMIT {literal(_TEXTS_AT_ONCE)} FOR UPDATE SKIP LOCKED"""
"""What another process has taken is skipped; it will be indexed there."""


def _adding(words: LiteralString) -> LiteralString:
    """The statement that adds the words of a query to the dictionary.

    In this order: two transactions that add the same words wait for one another and do not deadlock.

    The query reads the texts where they are, and returns the ``project_key`` of their rows. So a worker of a
    distributed database does it by itself. Of texts that are parameters the coordinator would get the words, and commit
    in two phases.
    """
    return f"""
    INSERT INTO word (project_key, word)
    SELECT w.project_key, w.word
    FROM ({words}) w
    ORDER BY w.word COLLATE "C"
    ON CONFLICT DO NOTHING"""


_ADD_WORDS = _adding("""
    SELECT DISTINCT u.project_key, w.word
    FROM unindexed_text u, unnest(words_of_text(u.text)) w (word)
    WHERE u.project_key = %(project_key)s AND u.id = ANY (%(ids)s)""")

_DELETE_TEXTS: LiteralString = (
    "DELETE FROM unindexed_text u WHERE u.project_key = %(project_key)s AND u.id = ANY (%(ids)s)"
)

_COUNT_TEXTS: LiteralString = f"""
    SELECT count(*) FROM (
        SELECT FROM unindexed_text u WHERE u.project_key = %(project_key)s LIMIT {_LEFT_AT_MOST}) u"""


def index_texts(connection: Connection, project_key: str) -> int:
    """Move the words of some texts to the dictionary.

    :return: how many texts are left, at most 10,000; 0 if the others, if any, have been taken by other processes.
    """
    with connection.transaction():
        ids = [taken for (taken,) in connection.execute(_TAKE_TEXTS, {"project_key": project_key})]
        if ids:
            texts = {"project_key": project_key, "ids": ids}
            connection.execute(_ADD_WORDS, texts)
            connection.execute(_DELETE_TEXTS, texts)
    if len(ids) < _TEXTS_AT_ONCE:
        return 0
    row = connection.execute(_COUNT_TEXTS, {"project_key": project_key}).fetchone()
    return row[0] if row else 0


# Bulk loading


def add_words_of_all(connection: Connection, project_key: str) -> None:
    """Add the words of all resources of a project to the dictionary."""
    connection.execute(_ADD_WORDS_OF_ALL, {"project_key": project_key})


def add_words_of(connection: Connection, project_key: str, ids: Collection[UUID]) -> None:
    """Add the words of some resources to the dictionary; to be called last in the transaction that writes them."""
    connection.execute(_ADD_WORDS_OF_SOME, {"project_key": project_key, "ids": list(ids)})


def remove_unused_words(connection: Connection, project_key: str) -> int:
    """Remove the words that no resource has from the dictionary, and return how many they were.

    Connections may remember some of them for :data:`CACHED_FOR_S`, and write resources with them that a search does not
    find until :func:`add_words_of_all` is called after that time.
    """
    return connection.execute(_REMOVE_UNUSED, {"project_key": project_key}).rowcount


def _words_of_resources(which: LiteralString) -> LiteralString:
    return f"""
    SELECT r.project_key, w.word FROM resource r, unnest({WORDS.current}) w (word)
    WHERE r.project_key = %(project_key)s {which}
    UNION
    SELECT r.project_key, w.word FROM resource r, unnest({WORDS.staged}) w (word)
    WHERE r.project_key = %(project_key)s AND {HAS_STAGED_CHANGES} {which}"""


_REMOVE_UNUSED: LiteralString = f"""
    DELETE FROM word w
    WHERE w.project_key = %(project_key)s
        AND NOT EXISTS (SELECT FROM ({_words_of_resources("")}) used WHERE used.word = w.word)"""

_ADD_WORDS_OF_ALL = _adding(_words_of_resources(""))
_ADD_WORDS_OF_SOME = _adding(_words_of_resources("AND r.id = ANY (%(ids)s)"))
