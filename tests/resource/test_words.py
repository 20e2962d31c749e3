"""The words of resources, and the queries that texts are turned into."""

import json
import random
import re
import string
from collections.abc import Callable, Iterator
from string import ascii_letters, ascii_lowercase
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.database.connection import Connection
from app.query.fields import MATCHES, WORDS_TO_RANK, Projection
from app.resource.model import SearchText
from app.resource.searching import words
from app.resource.searching.words import expand
from tests.support.api import Api
from tests.support.generated import examples

Find = Callable[..., list[str]]


@pytest.fixture
def find(connection: Connection, project: str) -> Find:
    """Keys of the resources that texts find, by language: ``find("dogs")``, ``find("Haus", "de", fuzzy=2)``."""

    def search(
        text: str, language: str = "en", *, fuzzy: int = 0, projection: Projection = Projection.CURRENT, more: Any = ()
    ) -> list[str]:
        query = expand(connection, project, [SearchText(f"text.{language}", text), *more], fuzzy).tsquery
        if query is None:
            return []
        condition = MATCHES.for_projection(projection).format("%(query)s::tsquery")
        rank = f"ts_rank({WORDS_TO_RANK.for_projection(projection)}, %(query)s::tsquery)"
        rows = connection.execute(
            f"SELECT r.key FROM resource r WHERE r.project_key = %(project)s AND {condition}"
            f" ORDER BY {rank} DESC, r.key",
            {"project": project, "query": query},
        ).fetchall()
        return [row[0] for row in rows]

    return search


def keep(api: Api, **texts: str | list[str]) -> None:
    """Create a resource for each key, with its texts."""
    for key, text in texts.items():
        api.create({"arrayOfStringExample": [text] if isinstance(text, str) else text}, key=f"k-{key}")


# Languages


def test_a_word_finds_its_other_forms_in_its_language(api: Api, find: Find) -> None:
    keep(api, one="a dog runs", two="running dogs", three="Katzen laufen", four="cats")
    assert find("dog") == ["k-one", "k-two"]
    assert find("DOGS run") == ["k-one", "k-two"]
    assert find("Katze", "de") == ["k-three"]
    assert find("Katze", "en") == []
    assert find("cat", "en-GB") == ["k-four"]
    assert find("cat", "xx") == []
    assert find("Cats", "xx") == ["k-four"]


@pytest.mark.parametrize(
    ("language", "stored", "asked"),
    [
        ("de", "Häuser", "Haus"),
        ("de", "Ärger", "ÄRGER"),
        ("fr", "chevaux", "cheval"),
        ("es", "niños", "niño"),
        ("ru", "собаки", "собака"),
        ("sv", "hundar", "hund"),
        ("it", "gatti", "gatto"),
        ("tr", "kitaplar", "kitap"),
        ("pt-BR", "meninas", "menina"),
        ("nl", "lichamelijk", "lichamelijke"),
    ],
)
def test_a_language_matches_as_its_text_search_configuration_does(
    api: Api, find: Find, connection: Connection, language: str, stored: str, asked: str
) -> None:
    keep(api, there=f"x {stored} y", other="something else")
    row = connection.execute(
        "SELECT to_tsvector(%(c)s::regconfig, %(stored)s) @@ plainto_tsquery(%(c)s::regconfig, %(asked)s)",
        {"c": words.CONFIGURATIONS[language[:2]], "stored": stored, "asked": asked},
    ).fetchone()
    assert row is not None
    assert (find(asked, language) == ["k-there"]) is row[0] is True


def test_stop_words_find_nothing_alone_and_are_ignored_beside_other_words(api: Api, find: Find) -> None:
    keep(api, one="the dog and the cat", two="die Katze")
    assert (find("the"), find("the dog")) == ([], ["k-one"])
    assert find("and", fuzzy=2) == []
    assert find("die", "en") == ["k-two"]
    assert find("die", "de") == []
    assert find("dog", more=[SearchText("text.en", "the")]) == []
    assert find("...") == []


def test_the_words_of_another_project_are_not_used(api: Api, connection: Connection) -> None:
    keep(api, one="dog")
    assert expand(connection, api.project, [SearchText("text.en", "dog")], 0).tsquery == "('dog')"
    assert expand(connection, f"{api.project}x", [SearchText("text.en", "dog")], 0).tsquery is None


# Fuzzy


def distance(one: str, other: str) -> int:
    """Damerau and Levenshtein's, by the book (R. Lowrance and R. A. Wagner, 1975)."""
    far = len(one) + len(other)
    table = {(-1, j): far for j in range(-1, len(other) + 1)} | {(i, -1): far for i in range(len(one) + 1)}
    table |= {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    last_row: dict[str, int] = {}
    for i, left in enumerate(one, 1):
        last_column = 0
        for j, right in enumerate(other, 1):
            row, column = last_row.get(right, 0), last_column
            swap = table[row - 1, column - 1] + (i - row - 1) + 1 + (j - column - 1)
            replace = table[i - 1, j - 1] + (left != right)
            table[i, j] = min(replace, table[i, j - 1] + 1, table[i - 1, j] + 1, swap)
            if left == right:
                last_column = j
        last_row[left] = i
    return table[len(one), len(other)]


def edits_for(word: str, level: int) -> int:
    return min(level, 0 if len(word) <= 2 else 1 if len(word) <= 5 else 2)


def alternatives(query: str | None) -> set[str]:
    """The words of a query for one word."""
    return set() if query is None else {word.strip("'") for word in query.strip("()").split(" | ")}


@pytest.fixture(scope="module")
def vocabulary(database_url: str) -> Iterator[tuple[Connection, str, list[str]]]:
    """A project with a thousand words in the dictionary, many similar: one to nine letters of a small alphabet."""
    chance = random.Random(4)  # noqa: S311 -- data, not secrets
    letters = "abcäö"
    made = {"".join(chance.choices(letters, k=chance.randrange(1, 10))) for _ in range(1000)}
    project = f"p-{uuid4().hex[:20]}"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("INSERT INTO word SELECT %s, unnest(%s::text[])", (project, sorted(made)))
        yield connection, project, sorted(made)
        connection.execute("DELETE FROM word WHERE project_key = %s", (project,))


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_fuzzy_word_matches_exactly_those_within_its_distance(
    vocabulary: tuple[Connection, str, list[str]], level: int
) -> None:
    connection, project, known = vocabulary
    chance = random.Random(level)  # noqa: S311 -- data, not secrets
    asked = ["".join(chance.choices("abcäöx", k=length)) for length in range(1, 11) for _ in range(5)]
    met = 0
    for word in asked:
        edits = edits_for(word, level)
        expected = {other for other in known if abs(len(other) - len(word)) <= edits >= distance(word, other)}
        assert alternatives(expand(connection, project, [SearchText("text.xx", word)], level).tsquery) == expected, word
        met += len(expected)
    assert met > 5


@settings(max_examples=examples(80), deadline=None)
@given(st.text(string.ascii_lowercase[:3], min_size=3, max_size=9), st.text(string.ascii_lowercase[:3], max_size=11))
def test_similar_words_share_a_key(one: str, other: str) -> None:
    """The rule for word_keys that the migration states, computed in Python."""
    edits = edits_for(one, 2)
    if distance(one, other) > edits:
        return
    shared = 4 if len(one) > 4 else len(one) - 1
    first = 6 if shared == 4 else 4 if shared == 3 else 3

    def parts(word: str) -> set[str]:
        found = {""}
        for letter in word[:first]:
            found |= {part + letter for part in found}
        return {part for part in found if len(part) == shared}

    assert parts(one) & parts(other)


def test_a_swap_of_neighbours_is_one_edit(api: Api, find: Find) -> None:
    keep(api, one="dog", two="garden", three="räder")
    assert find("dgo", "xx", fuzzy=2) == find("odg", "xx", fuzzy=1) == ["k-one"]
    assert find("gdo", "xx", fuzzy=2) == []
    assert find("gardne", "xx", fuzzy=1) == ["k-two"]
    assert find("agrdne", "xx", fuzzy=2) == ["k-two"]
    assert find("agrdne", "xx", fuzzy=1) == []
    assert find("gradxen", "xx", fuzzy=2) == ["k-two"]
    assert find("gadxren", "xx", fuzzy=2) == ["k-two"]
    assert find("ärder", "xx", fuzzy=1) == ["k-three"]


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.tuples(*[st.text(string.ascii_lowercase[:4], min_size=3, max_size=9)] * 2), min_size=40, max_size=40)
)
def test_words_match_exactly_if_their_distance_allows_it(database_url: str, pairs: list[tuple[str, str]]) -> None:
    """The SQL that decides for two words, without the index that finds the candidates."""
    statement = f"""
        SELECT {words.IS_SIMILAR}
        FROM unnest(%(asked)s::text[], %(known)s::text[], %(edits)s::int[])
                WITH ORDINALITY g (asked, word, edits, number)
            CROSS JOIN LATERAL (SELECT g.word) w
            CROSS JOIN LATERAL (SELECT g.asked AS word, g.edits, {words.swaps_of("g.asked")} AS swapped) a
        ORDER BY g.number"""
    edits = [edits_for(asked, 2) for asked, _ in pairs]
    with psycopg.connect(database_url, autocommit=True) as connection:
        rows = connection.execute(
            statement, {"asked": [one for one, _ in pairs], "known": [other for _, other in pairs], "edits": edits}
        ).fetchall()
    assert [row[0] for row in rows] == [distance(*pair) <= most for pair, most in zip(pairs, edits, strict=True)]


def test_a_fuzzy_search_also_matches_the_stem_and_the_word_in_lower_case(api: Api, find: Find) -> None:
    keep(api, one="running", two="runninx", three="Straße", four="ruinning")
    assert find("runs", fuzzy=2) == ["k-one"]
    assert find("RUNNING", fuzzy=2) == ["k-four", "k-one", "k-two"]
    assert (find("running", fuzzy=0), find("running")) == (["k-one"], ["k-one"])
    assert find("STRASSE", "xx", fuzzy=2) == ["k-three"]
    assert find("ab", fuzzy=2) == []


# Bounds


def test_a_text_that_matches_too_many_words_is_refused(api: Api, connection: Connection) -> None:
    keep(api, one="abcdefaa")
    letters = [chr(0x4E00 + number) for number in range(90)]
    alike = [f"abcdef{a}{b}" for a in letters for b in letters]
    add = "INSERT INTO word SELECT %s, unnest(%s::text[])"
    connection.execute(add, (api.project, alike[: words.MATCHES_AT_MOST - 1]))
    for more in ({}, {"sort": "key"}):  # with and without a rank
        query = {"text.xx": "abcdefaa", "fuzzy": "true", **more}
        assert api.get("/searchApiPattern", query_string=query).get_json()["total"] == 1
    connection.execute(add, (api.project, alike[-1:]))
    answer = api.get("/searchApiPattern", query_string={"text.xx": "abcdefaa", "fuzzy": "true"})
    assert answer.status_code == 400
    assert answer.get_json()["message"] == (
        "Malformed parameter: text.xx: The texts of the search match too many words of the project."
    )
    connection.execute("DELETE FROM word WHERE project_key = %s", (api.project,))


BODY = 64 * 1024 - 200


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" ".join(f"w{number:x}" for number in range(BODY))[:BODY], "w1f"),
        ("x" * BODY, None),
        ("dog " + "x" * (BODY - 4), "dog"),
        ("dog " + "a_" * (BODY // 2 - 2), "dog"),
        ("dog " + "<!--" * (BODY // 4 - 1), "dog"),
        ("dog " + "1-a-" * (BODY // 4 - 1), "dog"),
        ("dog " + "ⱥ" * (BODY // 3 - 4), "dog"),
    ],
    ids=["distinct words", "one word", "one long word", "underscores", "tags", "hyphens", "beyond ASCII"],
)
def test_any_text_of_a_body_can_be_stored(api: Api, find: Find, text: str, found: str | None) -> None:
    body = json.dumps({"key": "big", "objectTypeProperty": {"arrayOfStringExample": [text]}}, ensure_ascii=False)
    answer = api.put(data=body.encode(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 201, answer.text[:300]
    if found is not None:
        assert find(found, "xx") == ["big"]


# Letters and digits make words


def words_of(connection: Connection, *texts: str, some_property: str | None = None) -> set[str]:
    row = connection.execute(
        "SELECT tsvector_to_array(words_of(%s, %s))",
        (json.dumps({"arrayOfStringExample": texts}, ensure_ascii=False), some_property),
    ).fetchone()
    assert row is not None
    return set(row[0])


def test_every_word_of_the_largest_texts_counts(connection: Connection) -> None:
    """64 KiB of the shortest distinct words, in the array and in someProperty: a tsvector holds more."""
    letters = [chr(number) for number in range(0x4E00, 0x4E00 + 20_000)]
    array, of_property = " ".join(letters[:16_300]), " ".join(letters[-16_300:])
    assert words_of(connection, array, some_property=of_property) == {*letters}
    assert len(array.encode()) > 65_000
    short = [f"{first}{second}" for first in ascii_letters for second in ascii_lowercase]
    often = " ".join(short * 16)
    assert len(often) > 64_000
    assert words_of(connection, often, some_property=often) == {word.lower() for word in short}


def test_a_word_of_more_than_2046_bytes_does_not_count(connection: Connection) -> None:
    assert words_of(connection, f"dog {'x' * 2046} {'y' * 2047} cat") == {"dog", "x" * 2046, "cat"}


AWKWARD = st.lists(
    st.sampled_from(
        ["a", "B", "ä", "1", "e", "-", ".", "/", ":", "@", "_", "<", ">", "&", ";", "#", "'", '"', "\\", "!", "?", "=",
         " ", "\t", "\n", "\u00a0", "\u2003", "\u3000", "\u0085",
         "http://", "www", ".com", "<a ", "</b>", "<!--", "-->",
         "&amp;", "1e-5", "~/", ", ", '", "', "[", "]"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@settings(max_examples=examples(120), deadline=None)
@given(texts=st.lists(AWKWARD, max_size=6), some_property=st.none() | AWKWARD)
def test_words_are_runs_of_letters_and_digits(database_url: str, texts: list[str], some_property: str | None) -> None:
    """In short texts and in long ones, which PostgreSQL reads in two ways."""
    expected = {word.lower() for text in (*texts, some_property or "") for word in re.findall(r"[^\W_]+", text)}
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert words_of(connection, *texts, some_property=some_property) == expected
        long = "y" * 1000
        assert words_of(connection, *texts, long, some_property=some_property) == expected | {long}
