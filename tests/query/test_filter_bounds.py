"""Limits of filters and facets, and that none of any content is slow to parse."""

from contextlib import suppress
from functools import partial

import pytest

from app.query.filters.parser import parse_facet, parse_filter
from app.query.filters.resolver import InvalidExpressions, read_facets, read_filters
from app.query.language import InvalidExpression
from tests.support.effort import assert_under_50_ms


@pytest.mark.parametrize(
    "text",
    [
        "version:" + ",".join("1" * 5000),
        "version:" + ",".join(["1234567890.12345678"] * 499),
        "version:range" + ",".join(["(1 to 2)"] * 1000),
        "version:range" + ",".join(["(123 to 456)"] * 499),
        "key:" + ",".join(['"x"'] * 2500),
        "key:" + '"' * 10_000,
        'key:"' + '\\"' * 5000,
        'key:"' + "x" * 10_000,
        "a" * 10_000,
        ".".join("a" * 5000) + ":1",
        "a." * 5000,
        "key:" + "(" * 10_000,
        "key:range" + "(" * 10_000,
        "key:subtree(" * 800,
        "key as " * 1400,
        "key counting " * 800,
        "key as " + "a" * 10_000 + "!",
        "version:-" + "1" * 10_000,
        "version:1." + "1" * 10_000,
        "version:1e" + "9" * 10_000,
        " " * 10_000,
        ":" * 10_000,
        "*" * 10_000,
    ],
)
def test_ten_kilobytes_are_read_in_under_50_milliseconds(text: str) -> None:
    text = text[:10_000]
    for parse, read in ((parse_filter, read_filters), (parse_facet, read_facets)):
        assert_under_50_ms(partial(parse, text), InvalidExpression)
        with suppress(InvalidExpressions):
            read([text])


def test_trees_of_short_texts_are_cached() -> None:
    assert parse_filter('key:"remembered"') is parse_filter('key:"remembered"')
    assert parse_facet("key as remembered") is parse_facet("key as remembered")
