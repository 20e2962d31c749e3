"""The dictionary: the table ``word`` with all words of each project.

The dictionary finds words by stem and by spelling, with indexes that are expensive to write. So a write does not add to
it. The statement that writes a resource only notes the texts in which a new word may be, in the table
``unindexed_text``. A search reads these texts in addition to the dictionary. :func:`index_texts` moves them to the
dictionary, many at a time, when the project has few requests.

Most writes need not even note a text, because :class:`WordCache` keeps in memory which words each connection has
committed. A word that no resource has any more stays in the dictionary until :func:`remove_unused_words`, and finds no
resource.
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
"""The SQL that notes the text of new words: the first query in the WITH of the statement that writes a resource.

The text is noted even if that statement then writes no row. To depend on the written rows, the INSERT would have to
select from them, which costs more, and several times as much on a distributed table. Two writes that note the same
words do not wait for one another.
"""

_COUNTED_CHARACTERS = 20_000
"""The most characters of ``arrayOfStringExample`` that are searched, counted over all elements, and the most characters
of ``someProperty``."""

_LONGEST_PIECE = 1_000
"""The most bytes between two blanks; a longer piece has no words. The migration that defines ``words_of`` says why."""

_BLANKS = re.compile("[ \t\n\r<]+")
"""The characters that separate words. The migration that defines ``words_of`` says why."""

_CACHED_AT_MOST = 10_000
"""The most pieces that are cached for a connection."""

_CACHED_LENGTH = 64
"""The most characters of a piece that is cached."""

CACHED_FOR_S = 60.0
"""The longest time for which the pieces of a connection stay cached."""


@dataclass(frozen=True, slots=True)
class NewWords:
    """The pieces of a write's texts whose words the dictionary may lack.

    A piece is the part of a text between two blanks. It contains one or more words.
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
    """The pieces that are cached for a connection.

    :param pieces: pairs of a project's key and a piece.
    :param until: when all pieces are forgotten, by the monotonic clock.
    """

    until: float
    pieces: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


_NOTHING = _Cached(0)


class WordCache:
    """A cache of pieces whose words are noted or in the dictionary, for each connection that has committed them.

    A cache for the whole process would outlive a restore of the database, or a failover that loses the last commits.
    Restore and failover break the connections, and the cache of a connection ends with the connection. But connections
    to a pooler are not broken, and an operator can remove words. So pieces are forgotten after :data:`CACHED_FOR_S`.
    """

    def __init__(self) -> None:
        self._cached: WeakKeyDictionary[Connection, _Cached] = WeakKeyDictionary()

    def new_words(self, connection: Connection, project_key: str, texts: Iterable[Collection[str]]) -> NewWords:
        """Return the pieces of a write whose words the dictionary may lack.

        :param texts: the texts of each searched value that is written.
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
        """Cache the pieces of a write, unless its transaction may still be rolled back."""
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
        """Return the number of pieces that are cached for a connection."""
        return len(self._of(connection).pieces)


def _pieces(texts: Collection[str]) -> list[str]:
    """Divide the texts of one value at blanks, as the SQL function ``words_of`` does."""
    if not texts:
        return []
    # Each text has a blank before it, as in the SQL function, because the limit counts this blank.
    joined = f" {' '.join(texts)}"[:_COUNTED_CHARACTERS]
    pieces = [piece for piece in _BLANKS.split(joined) if piece]
    return [piece for piece in pieces if len(piece.encode()) <= _LONGEST_PIECE] if len(joined) > 250 else pieces


# Indexing

_TEXTS_AT_ONCE = 64
"""The texts that one call of :func:`index_texts` moves, which takes some milliseconds."""

_LEFT_AT_MOST = literal(10_000)

_TAKE_TEXTS: LiteralString = f"""
    SELECT u.id FROM unindexed_text u WHERE u.project_key = %(project_key)s
    LIMIT {literal(_TEXTS_AT_ONCE)} FOR UPDATE SKIP LOCKED"""
"""Texts that another process has locked are skipped, because that process indexes them."""


def _adding(words: LiteralString) -> LiteralString:
    """The statement that adds the words of a query to the dictionary.

    ORDER BY makes two transactions that add the same words wait for one another instead of deadlocking.

    The query has to read the texts from their table and return the ``project_key`` of their rows. Then a worker of a
    distributed database executes the whole statement. If the texts were parameters, the coordinator would compute the
    words and commit in two phases.
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
    """Add the words of some noted texts to the dictionary, and delete these texts.

    :return: how many noted texts are left, at most 10,000; 0 if other processes are indexing all that are left.
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
    """Add the words of some resources to the dictionary. To be called last in the transaction that writes the
    resources."""
    connection.execute(_ADD_WORDS_OF_SOME, {"project_key": project_key, "ids": list(ids)})


def remove_unused_words(connection: Connection, project_key: str) -> int:
    """Remove the words that no resource has from the dictionary, and return the number of removed words.

    Connections may remember removed words for :data:`CACHED_FOR_S`, so that new resources with these words are written
    without a note. A search finds such resources only after :func:`add_words_of_all`, called when that time has passed.
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
