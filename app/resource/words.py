"""The words that resources are searched by, and the dictionary: the table ``word`` with all words of each project.

A resource keeps its words as they are written, in lower case. A search in a language first looks up which words of the
dictionary have the stems of the words in question, and then searches for all of these; a fuzzy search adds words with a
similar spelling. So one index serves all languages, and a fuzzy search costs little more than an exact one.

The dictionary has to be complete: every write adds its new words in its own statement. To spare most writes that part
of the statement, :class:`WordCache` keeps in memory which words each connection has already seen committed.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import LiteralString, cast
from uuid import UUID
from weakref import WeakKeyDictionary

from psycopg.pq import TransactionStatus

from app import errors
from app.database.connection import Connection
from app.query.fields import ALL_WORDS, HAS_STAGED_CHANGES, WORDS
from app.resource.model import SearchText

WORDS_AT_MOST = 64
"""Words of all texts of a search, repetitions included; a compound such as ``e-mail`` counts with its parts."""

CHARACTERS_AT_MOST = 2000
"""Characters of all texts of a search."""

ALTERNATIVES_AT_MOST = 512 * 1024
"""Bytes of the tsquery of a search, with all words of the project that it looks for; PostgreSQL allows a megabyte."""

CONFIGURATIONS: Mapping[str, str] = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
"""PostgreSQL's text-search configuration by the first part of a language tag (ISO 639-1).

Not every version of PostgreSQL has all of them. For those that a server lacks, and for other languages, a search uses
``simple``.
"""


# Searching


def tsquery_of(
    connection: Connection, project_key: str, texts: Sequence[SearchText], fuzzy_level: int | None
) -> str | None:
    """The text of a ``tsquery`` for the words of all texts; None if no resource can have all of them.

    A text that has no words, or only stop words of its language, finds no resource.

    :param texts: at least one.
    :param fuzzy_level: the Levenshtein distance within which a word matches, lowered to the default for its length;
        None: exact.
    :raises ApiError: 400 ``InvalidInput`` if the texts have more words or characters than a search may have, or if too
        many words of the project match them.
    """
    _check_length(texts)
    row = connection.execute(
        _EXPAND,
        {
            "project_key": project_key,
            "configurations": [CONFIGURATIONS.get(text.language[:2].lower(), "simple") for text in texts],
            "texts": [text.text for text in texts],
            "edits": fuzzy_level or 0,
            "words_at_most": WORDS_AT_MOST,
        },
    ).fetchone()
    if row is None:
        errors.unreachable("an aggregate without GROUP BY has one row")
    word_counts, all_found, query = cast("tuple[list[int], bool, str | None]", row)
    _check_at_most(texts, word_counts, WORDS_AT_MOST, "words")
    if not all_found or query is None:
        return None
    if len(query.encode()) > ALTERNATIVES_AT_MOST:
        raise _invalid_text(texts[0], "Too many words of the project may stand for these.")
    return query


def _check_length(texts: Sequence[SearchText]) -> None:
    _check_at_most(texts, [len(text.text) for text in texts], CHARACTERS_AT_MOST, "characters")


def _check_at_most(texts: Sequence[SearchText], counts: Iterable[int], at_most: int, what: str) -> None:
    """Raise for the text with which the sum of the counts exceeds a limit."""
    for text, total in zip(texts, accumulate(counts), strict=True):
        if total > at_most:
            raise _invalid_text(text, f"The texts of a search may have {at_most} {what} in all.")


def _invalid_text(text: SearchText, reason: str) -> errors.ApiError:
    return errors.ApiError([errors.parameter_fault(f"text.{text.language}", reason)])


_QUOTED: LiteralString = r"""'''' || replace(replace(w.word, '\', '\\'), '''', '''''') || ''''"""

_EXPAND: LiteralString = rf"""
WITH text AS MATERIALIZED (
    SELECT t.number, ' ' || translate(t.text, '<', ' ') AS text,
        CASE WHEN t.configuration = ANY (stemmed_languages()) THEN 'pg_catalog.' || t.configuration
            ELSE 'pg_catalog.simple' END::regconfig AS configuration
    FROM unnest(%(configurations)s::text[], %(texts)s::text[]) WITH ORDINALITY t (configuration, text, number)
),
-- Each word and its position.
written AS MATERIALIZED (
    SELECT t.number, t.configuration, p.position, w.lexeme AS word
    FROM text t, unnest(to_tsvector('pg_catalog.simple', t.text)) w, unnest(w.positions) p (position)
),
-- The stems at each position; stop words have none.
stemmed AS (
    SELECT t.number, p.position, array_agg(s.lexeme) AS stems
    FROM text t, unnest(to_tsvector(t.configuration, t.text)) s, unnest(s.positions) p (position)
    GROUP BY t.number, p.position
),
asked AS MATERIALIZED (
    SELECT DISTINCT w.configuration, s.stems, w.word,
        least(%(edits)s, CASE WHEN length(w.word) <= 2 THEN 0 WHEN length(w.word) <= 5 THEN 1 ELSE 2 END) AS edits
    FROM written w JOIN stemmed s ON s.number = w.number AND s.position = w.position
    WHERE (SELECT count(*) FROM written) <= %(words_at_most)s
),
-- For each word, all words of the project that match it: by stem, then by distance.
expanded AS (
    SELECT (
        SELECT string_agg(DISTINCT {_QUOTED}, ' | ')
        FROM (
            SELECT w.word FROM word w
            WHERE w.project_key = %(project_key)s AND w.word = ANY (a.stems)
                AND tsvector_to_array(to_tsvector(a.configuration, w.word)) && a.stems
            UNION ALL
            SELECT w.word FROM word w
            WHERE w.project_key = %(project_key)s AND word_stems(w.word) && a.stems
                AND tsvector_to_array(to_tsvector(a.configuration, w.word)) && a.stems
            UNION ALL
            SELECT w.word FROM word w
            WHERE w.project_key = %(project_key)s AND a.edits > 0
                AND word_keys(w.word) && ARRAY(
                    SELECT k.key FROM unnest(word_keys(a.word)) k (key)
                    WHERE length(k.key) = least(4, length(a.word) - CASE WHEN length(a.word) <= 4 THEN 1 ELSE 0 END))
                AND CASE WHEN greatest(length(w.word), length(a.word)) <= 255
                    AND length(w.word) BETWEEN length(a.word) - a.edits AND length(a.word) + a.edits
                    THEN levenshtein_less_equal(w.word, a.word, a.edits) <= a.edits END
        ) w
    ) AS alternatives
    FROM asked a
)
SELECT
    (SELECT array_agg((SELECT count(*) FROM written w WHERE w.number = t.number) ORDER BY t.number) FROM text t),
    NOT EXISTS (SELECT FROM text t WHERE NOT EXISTS (SELECT FROM stemmed s WHERE s.number = t.number))
        AND (SELECT bool_and(e.alternatives IS NOT NULL) FROM expanded e),
    (SELECT string_agg('(' || e.alternatives || ')', ' & ') FROM expanded e)"""
"""The number of words of each text; whether each text has a stem, and each stem a word of the project; the query.

The CASE around the distance makes sure that it is computed only for words that it is defined for.
"""


# The dictionary


ADD_WORDS_OF_WRITTEN: LiteralString = f"""
    INSERT INTO word (project_key, word)
    SELECT %(project_key)s, w.word
    FROM written r, unnest({ALL_WORDS}) w (word)
    ORDER BY w.word COLLATE "C"
    ON CONFLICT DO NOTHING"""
"""Adds the words of the row ``written`` that the dictionary lacks, as the last part of the statement that writes it.

Two writes that add the same words wait for one another. They do not deadlock, since all writes add words in the same
order, and after they hold every other lock.
"""


def add_words_of_all(connection: Connection, project_key: str) -> None:
    """Add the words of all resources of a project to the dictionary."""
    connection.execute(_ADD_WORDS_OF_ALL, {"project_key": project_key})


def add_words_of(connection: Connection, project_key: str, ids: Collection[UUID]) -> None:
    """Add the words of some resources to the dictionary; to be called last in the transaction that writes them."""
    connection.execute(_ADD_WORDS_OF_SOME, {"project_key": project_key, "ids": list(ids)})


def _add_words(which: LiteralString) -> LiteralString:
    return f"""
    INSERT INTO word (project_key, word)
    SELECT %(project_key)s, w.word
    FROM (
        SELECT w.word FROM resource r, unnest({WORDS.current}) w (word)
        WHERE r.project_key = %(project_key)s {which}
        UNION
        SELECT w.word FROM resource r, unnest({WORDS.staged}) w (word)
        WHERE r.project_key = %(project_key)s AND {HAS_STAGED_CHANGES} {which}
    ) w
    ORDER BY w.word COLLATE "C"
    ON CONFLICT DO NOTHING"""


_ADD_WORDS_OF_ALL = _add_words("")
_ADD_WORDS_OF_SOME = _add_words("AND r.id = ANY (%(ids)s)")


_CACHED_AT_MOST = 10_000
"""Pieces that are cached for each connection."""

_CACHED_LENGTH = 64
"""Characters of a piece that is cached."""

_EXAMINED_AT_MOST = 10_000
"""Characters of a write's texts that are compared with the cache; longer ones always count as new."""

_BLANKS = re.compile("[ \t\n\r<]+")
"""The characters that no word extends across; the migration that defines words_of says why."""


@dataclass(frozen=True, slots=True)
class NewWords:
    """The words that a write may have to add to the dictionary.

    :param pieces: its texts, divided at blanks; a piece contains one or more words.
    :param possible: whether there can be any. If not, the statement need not add words.
    """

    pieces: frozenset[str]
    possible: bool


class WordCache:
    """Pieces of texts whose words are certainly in the dictionary, by the connection that has seen them committed.

    A cache for the whole process would outlive a restored database, or one that failed over and lost the last commits.
    Either breaks the connections, and their part of the cache goes with them.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Connection, set[tuple[str, str]]] = WeakKeyDictionary()
        """Projects and pieces."""

    def new_words(self, connection: Connection, project_key: str, texts: Iterable[str]) -> NewWords:
        """The words of a write with these texts that the dictionary may lack."""
        text = " ".join(texts)
        if len(text) > _EXAMINED_AT_MOST:
            return NewWords(frozenset(), possible=True)
        pieces = frozenset(_BLANKS.split(text))
        known = self._known.get(connection, _NOTHING)
        all_known = known.issuperset(zip(repeat(project_key), pieces, strict=False))
        return NewWords(pieces, possible=text != "" and not all_known)

    def add(self, connection: Connection, project_key: str, added: NewWords) -> None:
        """Note that a write has added these words, unless its transaction may still be rolled back."""
        if not added.possible or connection.info.transaction_status is not TransactionStatus.IDLE:
            return
        known = self._known.setdefault(connection, set())
        if len(known) + len(added.pieces) > _CACHED_AT_MOST:
            known.clear()
        known.update((project_key, piece) for piece in added.pieces if len(piece) <= _CACHED_LENGTH)

    def forget(self, project_key: str) -> None:
        """Forget the pieces of a project, whose words have been deleted from the dictionary."""
        for connection, known in list(self._known.items()):
            self._known[connection] = {each for each in tuple(known) if each[0] != project_key}

    def size(self, connection: Connection) -> int:
        """The number of pieces that are cached for a connection."""
        return len(self._known.get(connection, _NOTHING))


_NOTHING: set[tuple[str, str]] = set()
