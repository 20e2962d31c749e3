"""Limits of filters and facets, and that none of any content is slow to parse."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import pytest
from marshmallow import ValidationError
from werkzeug.datastructures import MultiDict

from app.errors import FAULTS_AT_MOST, ApiError
from app.query.filters.parser import parse_facet, parse_filter
from app.query.filters.resolver import read_facets, read_filters
from app.query.language import TERMS_AT_MOST
from app.resource.params import SearchSchema
from app.values.parameters import LENGTH_AT_MOST
from tests.support.effort import assert_under_50_ms, assert_under_100_ms


@pytest.mark.parametrize(
    "text",
    [
        "version:" + ",".join("1" * 8000),
        "version:" + "1," * LENGTH_AT_MOST,
        "version:" + ",".join(["1234567890.12345678"] * 499),
        "version:range" + ",".join(["(1 to 2)"] * LENGTH_AT_MOST),
        "version:range" + ",".join(["(123 to 456)"] * 499),
        "key:" + ",".join(['"x"'] * LENGTH_AT_MOST),
        "key:" + '"' * LENGTH_AT_MOST,
        'key:"' + '\\"' * LENGTH_AT_MOST,
        'key:"' + "x" * LENGTH_AT_MOST,
        "a" * LENGTH_AT_MOST,
        ".".join("a" * LENGTH_AT_MOST) + ":1",
        "a." * LENGTH_AT_MOST,
        "key:" + "(" * LENGTH_AT_MOST,
        "key:range" + "(" * LENGTH_AT_MOST,
        "key:subtree(" * LENGTH_AT_MOST,
        "key as " * LENGTH_AT_MOST,
        "key counting " * LENGTH_AT_MOST,
        "key as " + "a" * LENGTH_AT_MOST + "!",
        "version:-" + "1" * LENGTH_AT_MOST,
        "version:1." + "1" * LENGTH_AT_MOST,
        "version:1e" + "9" * LENGTH_AT_MOST,
        " " * LENGTH_AT_MOST,
        ":" * LENGTH_AT_MOST,
        "*" * LENGTH_AT_MOST,
    ],
)
def test_the_longest_texts_are_read_in_under_100_milliseconds(text: str) -> None:
    text = text[:LENGTH_AT_MOST]
    for parse, read in ((parse_filter, read_filters), (parse_facet, read_facets)):
        assert_under_100_ms(partial(parse, text), ValidationError)
        with suppress(ValidationError):
            read([text])


TOO_MANY_TERMS = "There are more than 500 values and ranges."


def refused(read: Callable[[Sequence[str]], object], *texts: str) -> tuple[str, ...]:
    with pytest.raises(ValidationError) as error:
        read(texts)
    return tuple(str(reason) for reason in error.value.messages)


def test_the_values_and_ranges_of_all_filters_and_of_all_facets_are_counted() -> None:
    def values(count: int) -> str:
        return "key:" + ",".join(['"a, (b) \\" to:"'] * count)

    def ranges(count: int) -> str:
        return "version: Range " + ", ".join(["(1 to *)"] * count)

    rest = TERMS_AT_MOST - 10
    for read in (read_filters, read_facets):
        read([values(rest), ranges(10)])
        assert refused(read, values(rest), ranges(11)) == (TOO_MANY_TERMS,)
        assert refused(read, values(TERMS_AT_MOST + 1)) == (TOO_MANY_TERMS,)
    read_filters([values(TERMS_AT_MOST - 3), "key: exists", "version :MISSING", "id:exists"])
    assert refused(read_filters, *["key:exists", "id : MISSING"] * 251) == (TOO_MANY_TERMS,)
    read_facets([values(TERMS_AT_MOST), "key as a", "version"])


FACET = "Malformed parameter: facet: {} facets times the {} values and ranges of filter.query and filter.facets are"


def search_with(**counts: int) -> MultiDict[str, str]:
    """So many facets, and filters of one term each, by their names with an underscore for the dot."""
    texts = {
        "facet": "version as v{}",
        "filter": "version:{}",
        "filter_query": "key:exists",
        "filter_facets": "id:exists",
    }
    return MultiDict(
        (name.replace("_", "."), texts[name].format(number))
        for name, count in counts.items()
        for number in range(count)
    )


@pytest.mark.parametrize(
    ("fits", "beyond", "message"),
    [
        ({"facet": 50, "filter_query": 20}, {"facet": 50, "filter_query": 21}, FACET.format(50, 21)),
        ({"facet": 50, "filter_facets": 20}, {"facet": 50, "filter_facets": 21}, FACET.format(50, 21)),
        (
            {"facet": 10, "filter_query": 60, "filter_facets": 40, "filter": 300},
            {"facet": 10, "filter_query": 60, "filter_facets": 41},
            FACET.format(10, 101),
        ),
        (
            {"filter": 200, "filter_query": 200, "filter_facets": 100},
            {"filter": 200, "filter_query": 200, "filter_facets": 101},
            "Malformed parameter: filter: filter, filter.query and filter.facets have 501 values and ranges together",
        ),
    ],
)
def test_the_conditions_of_a_statement_are_bounded(fits: dict[str, int], beyond: dict[str, int], message: str) -> None:
    SearchSchema().load(search_with(**fits))
    with pytest.raises(ApiError, match=message.replace(".", "[.]")) as refusal:
        SearchSchema().load(search_with(**beyond))
    assert refusal.value.status == 400


FILTERS = ("filter", "filter.query", "filter.facets", "facet")


def test_all_parameters_together_have_a_bound_of_characters() -> None:
    """A form of 2 MB would otherwise be parsed for seconds."""
    quarter = f'key:"{"a" * (LENGTH_AT_MOST // 4 - 6)}"'
    form: MultiDict[str, str] = MultiDict([(name, quarter) for name in FILTERS])
    SearchSchema().load(form)
    form.add("text.en", "b")
    form.add("facet", "key")
    message = "Malformed parameter: facet: All parameters together have 16388 characters, 16384 are accepted."
    with pytest.raises(ApiError, match=re.escape(message)) as refusal:
        SearchSchema().load(form)
    assert len(refusal.value.faults) == 1


@pytest.mark.parametrize("end", ["", "!"], ids=["expressions", "syntax errors"])
@pytest.mark.parametrize("name", FILTERS)
def test_a_long_form_is_refused_before_it_is_parsed(name: str, end: str) -> None:
    """Each text differs, so that no tree is cached."""
    texts = [f"version:{','.join(f'{number}.{text:03}' for number in range(499))}{end}" for text in range(489)]
    form = MultiDict([(name, text) for text in texts])
    assert_under_50_ms(partial(SearchSchema().load, form), ApiError)


def test_what_is_beyond_the_number_of_faults_is_not_parsed() -> None:
    texts = [f"unknown{'x' * 2000}{number}:1" for number in range(900)]
    assert len(refused(read_filters, *texts)) == FAULTS_AT_MOST
    assert_under_50_ms(partial(refused, read_filters, *texts), ValidationError)


def test_a_text_of_many_words_is_refused_before_its_words_are_looked_at() -> None:
    texts = MultiDict([("text.en", "a " * 1000)] * 900)
    assert_under_50_ms(partial(SearchSchema().load, texts), ApiError)
