"""The words that resources are searched by, and the dictionary of those that a project has.

A resource keeps its words as they are written, in lower case. A search in a language looks up which words of the
project have the stems that are asked for, and then searches for these words; a fuzzy one adds words that are written
alike. So one index serves all languages, and a fuzzy search costs little more than an exact one.

What is looked up has to be there: every write adds its new words to the dictionary in its own statement.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import LiteralString, cast
from uuid import UUID
from weakref import WeakKeyDictionary

from psycopg import sql
from psycopg.pq import TransactionStatus

from app import errors
from app.database.connection import Connection
from app.resource.model import Text

WORDS_AT_MOST = 64
"""Words of all texts of a search, each as often as it occurs; a compound such as ``e-mail`` counts with its parts."""

CHARACTERS_AT_MOST = 2000
"""Characters of all texts of a search."""

ALTERNATIVES_AT_MOST = 512 * 1024
"""Bytes of a search's words and of all words of the project that may stand for them; a tsquery holds a megabyte."""

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

Not every version has each of them; for those that a server lacks, and for other languages, it is ``simple``.
"""


# Searching


def tsquery_of(connection: Connection, project_key: str, texts: Sequence[Text], fuzzy_level: int | None) -> str | None:
    """The text of a ``tsquery`` for the words of all texts; None if no resource can have them all.

    A text of nothing but stop words of its language, or of none, is one that no resource has.

    :param texts: at least one.
    :param fuzzy_level: how many edits a word may be away, at most as many as its length allows by default; None: not
        fuzzy.
    :raises ApiError: 400 ``InvalidInput`` if there are more words or characters than a search may have, or if too many
        words of the project may stand for them.
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
    counts, found, query = cast("tuple[list[int], bool, str | None]", row)
    _check_at_most(texts, counts, WORDS_AT_MOST, "words")
    if not found or query is None:
        return None
    if len(query.encode()) > ALTERNATIVES_AT_MOST:
        raise _refusal(texts[0], "Too many words of the project may stand for these.")
    return query


def _check_length(texts: Sequence[Text]) -> None:
    _check_at_most(texts, [len(text.text) for text in texts], CHARACTERS_AT_MOST, "characters")


def _check_at_most(texts: Sequence[Text], counts: Iterable[int], at_most: int, what: str) -> None:
    """Refuse the text with which the sum of the counts exceeds what is accepted."""
    for text, total in zip(texts, accumulate(counts), strict=True):
        if total > at_most:
            raise _refusal(text, f"The texts of a search may have {at_most} {what} in all.")


def _refusal(text: Text, reason: str) -> errors.ApiError:
    return errors.ApiError([errors.parameter_fault(f"text.{text.language}", reason)])


_QUOTED: LiteralString = r"""'''' || replace(replace(w.word, '\', '\\'), '''', '''''') || ''''"""

_EXPAND: LiteralString = rf"""
WITH text AS MATERIALIZED (
    SELECT t.number, ' ' || translate(t.text, '<', ' ') AS text,
        CASE WHEN t.configuration = ANY (stemmed_languages()) THEN 'pg_catalog.' || t.configuration
            ELSE 'pg_catalog.simple' END::regconfig AS configuration
    FROM unnest(%(configurations)s::text[], %(texts)s::text[]) WITH ORDINALITY t (configuration, text, number)
),
-- Each word where it stands.
written AS MATERIALIZED (
    SELECT t.number, t.configuration, p.position, w.lexeme AS word
    FROM text t, unnest(to_tsvector('pg_catalog.simple', t.text)) w, unnest(w.positions) p (position)
),
-- And its stems; stop words have none.
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
-- The words of the project that may stand for each.
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
"""How many words each text has, whether each has a stem and each of these a word, and the query.

The distance is only computed for words that it is defined for, which is why it stands in a CASE.
"""


# Learning


LEARNT: LiteralString = """
    INSERT INTO word (project_key, word)
    SELECT %(project_key)s, w.word
    FROM written r, unnest(tsvector_to_array(r.words) || coalesce(tsvector_to_array(r.staged_words), '{}')) w (word)
    ORDER BY w.word COLLATE "C"
    ON CONFLICT DO NOTHING"""
"""Adds the words of a row ``written`` that the dictionary lacks, to end the statement that writes it.

In order and at the end, when every other lock is held: two writes that add the same words then wait for one another in
one direction only.
"""


def learn_all(connection: Connection, project_key: str) -> None:
    """Add the words of all resources of a project that the dictionary lacks."""
    connection.execute(_LEARN.format(which=sql.SQL("")), {"project_key": project_key})


def learn_those_of(connection: Connection, project_key: str, ids: Collection[UUID]) -> None:
    """Add the words of some resources that the dictionary lacks; at the end of the transaction that writes them."""
    which = sql.SQL("AND r.id = ANY (%(ids)s)")
    connection.execute(_LEARN.format(which=which), {"project_key": project_key, "ids": list(ids)})


_LEARN = sql.SQL("""
    INSERT INTO word (project_key, word)
    SELECT %(project_key)s, w.word
    FROM (
        SELECT w.word FROM resource r, unnest(tsvector_to_array(r.words)) w (word)
        WHERE r.project_key = %(project_key)s {which}
        UNION
        SELECT w.word FROM resource r, unnest(tsvector_to_array(r.staged_words)) w (word)
        WHERE r.project_key = %(project_key)s AND r.staged_object_type IS NOT NULL {which}
    ) w
    ORDER BY w.word COLLATE "C"
    ON CONFLICT DO NOTHING""")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a write may have to add to the dictionary: the pieces of its texts between blanks."""

    pieces: frozenset[str]
    needed: bool


_LOOKED_AT_AT_MOST = 10_000
"""Characters of a write; longer ones are always taken for new."""

_LONGEST_PIECE = 64
_KNOWN_AT_MOST = 10_000

_BLANKS = re.compile("[ \t\n\r<]+")
"""Where no word reaches over (see the migration that defines words_of)."""

_known: WeakKeyDictionary[Connection, set[tuple[str, str]]] = WeakKeyDictionary()
"""Projects and pieces whose words are in the dictionary for certain, by the connection that has seen them committed.

Not by the process: a database that is restored, or that fails over and loses the last commits, breaks its connections.
"""


def lesson(connection: Connection, project_key: str, texts: Iterable[str]) -> Lesson:
    """Whether a write that brings these texts can bring words that the dictionary lacks."""
    text = " ".join(texts)
    if len(text) > _LOOKED_AT_AT_MOST:
        return Lesson(frozenset(), needed=True)
    pieces = frozenset(_BLANKS.split(text))
    known = _known.get(connection, _NOTHING)
    return Lesson(pieces, needed=text != "" and not known.issuperset(zip(repeat(project_key), pieces, strict=False)))


_NOTHING: set[tuple[str, str]] = set()


def remember(connection: Connection, project_key: str, learnt: Lesson) -> None:
    """Note that the words of a lesson are in the dictionary, unless the transaction may still be rolled back."""
    if not learnt.needed or connection.info.transaction_status is not TransactionStatus.IDLE:
        return
    known = _known.setdefault(connection, set())
    if len(known) + len(learnt.pieces) > _KNOWN_AT_MOST:
        known.clear()
    known.update((project_key, piece) for piece in learnt.pieces if len(piece) <= _LONGEST_PIECE)
