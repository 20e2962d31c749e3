"""Translates the texts of a search to a ``tsquery`` for the words that resources have.

A resource is indexed by its words in lower case, without stemming. A search first looks up which words of the project's
dictionary (:mod:`app.resource.searching.dictionary`) have the stems of the searched words, and then finds the resources
with these words. A fuzzy search adds words with a similar spelling. So one index serves all languages. A fuzzy search
costs little more than another one, unless thousands of words of the project have four of their first six letters in
common: it compares each of them, which the statement timeout limits.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import LiteralString, cast

from app import errors
from app.database.connection import Connection
from app.query.predicate.compiler import hidden_from_planner
from app.query.sql_text import literal
from app.resource.model import SearchText

WORDS_AT_MOST = 64
"""The most words of all texts of a search together, with repetitions."""

MATCHES_AT_MOST = 8_000
"""The most words of the project that match the texts of a search. PostgreSQL evaluates ``a | b | ...`` recursively, and
reached the default of ``max_stack_depth`` with 43,000 words."""

TSQUERY_BYTES_AT_MOST = 512 * 1024
"""The most bytes of the tsquery of a search. PostgreSQL allows a megabyte."""

CONFIGURATIONS: Mapping[str, str] = json.loads(Path(__file__).with_name("configurations.json").read_text("utf-8"))
"""PostgreSQL's text-search configuration by the first part of a language tag (ISO 639-1).

Older versions of PostgreSQL lack some of these configurations. For a configuration that the server lacked when the
database was migrated, and for any other language, a search uses ``simple``.
"""


AskedWord = tuple[str, str | None, str | None]
"""One asked word of a search, as three texts of a ``tsquery``:

- ``exact`` matches the word itself, in the form of the index, whether the project has it or not.
- ``stemmed`` matches all words of the project with the same stem; None if there are none.
- ``matching`` matches all words of the project with the same stem or, in a fuzzy search, with a similar spelling; None
  if there are none, but never None in an :class:`Expansion`.
"""


@dataclass(frozen=True, slots=True)
class Expansion:
    """The words of the texts of a search, each with the words of the project that match it.

    :param asked: the words, all of which a resource has to match. It is empty if no resource can, as when the project
        has no match for one of the words.
    """

    asked: tuple[AskedWord, ...]

    @property
    def tsquery(self) -> str | None:
        """The text of the ``tsquery`` for the resources that match all words; None if no resource can match."""
        # `matching` is never None: if a word has no match in the project, `expand` leaves `asked` empty.
        return " & ".join([f"({matching})" for _, _, matching in self.asked]) or None

    @property
    def words_for_points(self) -> tuple[AskedWord, ...]:
        """The words for which a result gets points, by which ``searches._order`` sorts: all asked words, or none.

        A result has a match of every asked word, and gets fewer points where the match is another word than the asked
        one. If no word has another match than itself, all results would get the same points. Then the tuple is empty,
        which saves computing them.
        """
        # ``matching`` and ``exact`` are equal texts if the word has no other match.
        return self.asked if any(matching != exact for exact, _, matching in self.asked) else ()


def expand(connection: Connection, project_key: str, texts: Sequence[SearchText], fuzzy_level: int) -> Expansion:
    """Look up which words of a project match each word of the texts.

    The result is empty, and so the search finds no resource, in two cases:

    - A text has no words, or only stop words of its language.
    - A word that is no stop word has no match in the project.

    A stop word needs no match, but counts for the limit of words. A word of more than 2,046 bytes is not indexed, and
    is ignored altogether.

    :param texts: at least one text.
    :param fuzzy_level: the largest Damerau-Levenshtein distance at which a word matches. Short words allow less: words
        of one or two characters 0, and words of three to five at most 1. Words with the same stem match at any
        distance; if the level is 0, only these match.
    :raises ApiError: 400 ``InvalidInput`` if the texts have more than :data:`WORDS_AT_MOST` words, if too many words of
        the project match them, or if the matching words have too many bytes together.
    """
    row = connection.execute(
        _EXPAND,
        {
            "project_key": project_key,
            "configurations": [CONFIGURATIONS.get(text.language[:2], "simple") for text in texts],
            "texts": [text.text for text in texts],
            "edits": fuzzy_level,
            "words_at_most": WORDS_AT_MOST,
        },
    ).fetchone()
    if row is None:
        raise AssertionError("a select without FROM has one row")
    word_counts, all_found, asked = cast("tuple[list[int], bool, list[AskedWord]]", row)
    too_many = text_beyond(WORDS_AT_MOST, texts, word_counts)
    if too_many is not None:
        raise _invalid_text(too_many, f"The texts of a search may have {WORDS_AT_MOST} words in all.")
    if not all_found:
        return Expansion(())
    expansion = Expansion(tuple([(exact, stemmed, matching) for exact, stemmed, matching in asked]))
    tsquery = expansion.tsquery or ""
    # The number of matches is estimated by the signs "|": a word with n matches has n - 1 of them. The fault names the
    # first text, because it is not known here which text has the most matches.
    if tsquery.count("|") >= MATCHES_AT_MOST or len(tsquery.encode()) > TSQUERY_BYTES_AT_MOST:
        raise _invalid_text(texts[0], "The texts of the search match too many words of the project.")
    return expansion


def text_beyond(at_most: int, texts: Sequence[SearchText], sizes: Iterable[int]) -> SearchText | None:
    """The first text with which the sum of the sizes exceeds a bound; None if all texts together do not exceed it."""
    return next((text for text, total in zip(texts, accumulate(sizes), strict=True) if total > at_most), None)


def _invalid_text(text: SearchText, reason: str) -> errors.ApiError:
    """The error 400 for a text of a search."""
    return errors.ApiError([errors.parameter_fault(text.parameter, reason)])


def _quoted(word: LiteralString) -> LiteralString:
    """The SQL that puts a word in single quotes, as an operand of a ``tsquery``. It escapes nothing, because no word
    has a quote or a backslash: ``words_of`` (see the migration) replaces them by spaces.

    :param word: SQL of the word.
    """
    return f"'''' || {word} || ''''"


_HAS_STEM: LiteralString = "tsvector_to_array(to_tsvector(a.configuration, w.word)) && a.stems"
"""Whether a word of the project has a stem that is asked for."""

_LONGEST_COMPARED = literal(255)
"""The most characters of a word that is compared by its spelling: PostgreSQL computes no distance of longer words."""


def _swapped(word: LiteralString, place: LiteralString) -> LiteralString:
    """The SQL that swaps the character at a position of a word with the next one."""
    return f"overlay({word} PLACING reverse(substr({word}, {place}, 2)) FROM {place} FOR 2)"


def swaps_of(word: LiteralString) -> LiteralString:
    """The SQL of an array: the variants of a word with one pair of adjacent characters swapped. The array is empty if
    the word has more than :data:`_LONGEST_COMPARED` characters, because the distance of such a word is never computed.

    A fuzzy search counts such a swap as one edit, but PostgreSQL's ``levenshtein`` counts it as two. So
    :data:`IS_SIMILAR` also compares the words of the project with these variants, which it reads as ``a.swapped``.

    :param word: SQL of the word.
    """
    swapped = _swapped(word, "p.place")
    # NULL for a long word, so that generate_series returns no place.
    last = f"CASE WHEN length({word}) <= {_LONGEST_COMPARED} THEN length({word}) - 1 END"
    return f"ARRAY(SELECT {swapped} FROM generate_series(1, {last}) p (place))"


IS_SIMILAR: LiteralString = f"""CASE WHEN greatest(length(w.word), length(a.word)) <= {_LONGEST_COMPARED}
                    AND length(w.word) BETWEEN length(a.word) - a.edits AND length(a.word) + a.edits
                    THEN levenshtein_less_equal(w.word, a.word, a.edits) <= a.edits
                        OR (abs(length(w.word) - length(a.word)) < a.edits
                            AND length(translate(w.word, a.word, '')) < a.edits
                            AND length(translate(a.word, w.word, '')) < a.edits
                            AND (
                                EXISTS (
                                    SELECT FROM unnest(a.swapped) s (word)
                                    WHERE levenshtein_less_equal(s.word, w.word, a.edits - 1) < a.edits)
                                OR a.edits = 2 AND EXISTS (
                                    SELECT FROM generate_series(1, length(w.word) - 1) p (place),
                                        LATERAL (SELECT {_swapped("w.word", "p.place")} AS word) s
                                    WHERE s.word = ANY (a.swapped) OR levenshtein_less_equal(s.word, a.word, 1) < 2)))
                    ELSE false END"""
"""Whether the Damerau-Levenshtein distance of two words is at most ``a.edits``, which is 1 or 2.

The distance of fuzzystrmatch has no swaps of adjacent characters, so the SQL tries them. If one of two edits is a swap,
a swap in one of the two words leaves at most one other edit. If both edits are swaps, a swap in each word makes them
equal. Swaps are tried in either word, because the order of edits matters: ``abc`` becomes ``ca`` only if ``b`` is
deleted before the swap. A swap changes neither the length nor the letters, so for most pairs no swap is tried. The CASE
makes PostgreSQL compute distances only of words that are short enough.
"""

_EDITS = hidden_from_planner("%(edits)s", "int")

# words_of splits a text as it splits the someProperty of a resource. Too many words are not looked up: expand refuses
# them by their counts. word_stems has no word itself, so words that are their own stem are found by another query. The
# words within the allowed edits share a key of a certain length (see word_keys in the migration).
_EXPAND: LiteralString = rf"""
WITH text AS MATERIALIZED (
    SELECT t.number, words_of('{{}}', t.text) AS words,
        CASE WHEN t.configuration = ANY (stemmed_languages()) THEN 'pg_catalog.' || t.configuration
            ELSE 'pg_catalog.simple' END::regconfig AS configuration
    FROM unnest({hidden_from_planner("%(configurations)s", "text[]")}, {hidden_from_planner("%(texts)s", "text[]")})
        WITH ORDINALITY t (configuration, text, number)
),
-- The words of the texts with their stems; stop words have none.
written AS MATERIALIZED (
    SELECT t.number, t.configuration, w.lexeme AS word, cardinality(w.positions) AS times,
        tsvector_to_array(to_tsvector(t.configuration, w.lexeme)) AS stems
    FROM text t, unnest(t.words) w
),
asked AS MATERIALIZED (
    SELECT DISTINCT w.configuration, w.stems, w.word,
        least({_EDITS}, CASE WHEN length(w.word) <= 2 THEN 0 WHEN length(w.word) <= 5 THEN 1 ELSE 2 END)
            AS edits,
        CASE WHEN {_EDITS} > 0 THEN {swaps_of("w.word")} END AS swapped
    FROM written w
    WHERE w.stems <> '{{}}' AND (SELECT sum(w.times) FROM written w) <= %(words_at_most)s
),
-- For each word, the words of the project that match it: by stem, and by distance.
expanded AS (
    SELECT {_quoted("a.word")} AS exact, m.stemmed, m.matching
    FROM asked a CROSS JOIN LATERAL (
        SELECT string_agg(DISTINCT {_quoted("w.word")}, ' | ') FILTER (WHERE w.has_stem) AS stemmed,
            string_agg(DISTINCT {_quoted("w.word")}, ' | ') AS matching
        FROM (
            SELECT w.word, true AS has_stem FROM word w
            WHERE w.project_key = %(project_key)s AND w.word = ANY (a.stems) AND {_HAS_STEM}
            UNION ALL
            SELECT w.word, true FROM word w
            WHERE w.project_key = %(project_key)s AND word_stems(w.word) && a.stems AND {_HAS_STEM}
            UNION ALL
            SELECT w.word, false FROM word w
            WHERE w.project_key = %(project_key)s AND a.edits > 0
                AND word_keys(w.word) && ARRAY(
                    SELECT k.key FROM unnest(word_keys(a.word)) k (key)
                    WHERE length(k.key) = least(4, length(a.word) - CASE WHEN length(a.word) <= 4 THEN 1 ELSE 0 END))
                AND {IS_SIMILAR}
        ) w
    ) m
)
SELECT
    (SELECT array_agg((SELECT coalesce(sum(w.times), 0) FROM written w WHERE w.number = t.number) ORDER BY t.number)
        FROM text t),
    NOT EXISTS (
        SELECT FROM text t WHERE NOT EXISTS (SELECT FROM written w WHERE w.number = t.number AND w.stems <> '{{}}'))
        AND (SELECT coalesce(bool_and(e.matching IS NOT NULL), false) FROM expanded e),
    (SELECT array_agg(ARRAY[e.exact, e.stemmed, e.matching]) FROM expanded e)"""
"""Statement of one row: the number of words of each text; whether each text has a word that is no stop word, and the
project a match for each of these words; the words, each as the texts of :class:`AskedWord`."""
