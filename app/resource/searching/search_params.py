"""The parameters of the search (interface 4.4 and 4.14): texts, fuzziness, filters and facets."""

from collections.abc import Iterable
from math import floor
from typing import Any

from marshmallow import ValidationError

from app import errors
from app.query.fields import Projection
from app.query.filters.resolver import Filter, read_facets, read_filters
from app.query.language import TERMS_AT_MOST
from app.resource.model import FUZZY_LEVEL_AT_MOST, Search, SearchText
from app.resource.params import Expressions, PagingSchema, paging_of
from app.resource.searching.words import text_beyond
from app.values.parameters import (
    FILLED_TEXT_SCHEMA,
    BooleanParameter,
    Parameter,
    ParameterFamily,
    read_number,
    read_text,
)


def read_words(text: str) -> str:
    """Load a text to search for. It must not be blank."""
    if text.isspace():
        raise ValidationError("The value is blank.")
    return read_text(text)  # which refuses the empty text


def read_level(text: str) -> int:
    """Load a number of edits, rounded down. Before rounding, it must not exceed the platform's default level."""
    number = read_number(text)
    if number < 0:
        raise ValidationError(f"{errors.quoted(text)} is negative, a number from 0 on is expected.")
    if number > FUZZY_LEVEL_AT_MOST:
        raise ValidationError(f"{errors.quoted(text)} is higher than {FUZZY_LEVEL_AT_MOST}, the default fuzzy level.")
    return floor(number)


CHARACTERS_AT_MOST = 2000
"""The most characters of all texts of a search together."""

REPEATED_TERMS_AT_MOST = 1000
"""The most values and ranges of ``filter.query`` and ``filter.facets`` together, times the number of facets.

The statement of a search repeats these values and ranges for each facet. Without this limit it could have 14 MiB, for
which PostgreSQL takes hundreds of MiB of memory.
"""


def _raise_if_too_many(search: Search) -> None:
    """Refuse filters and facets that would make the statement too long.

    :raises ValidationError: for the parameter in question, with the numbers.
    """
    in_all = _terms_of((*search.filters, *search.query_filters, *search.facet_filters))
    if in_all > TERMS_AT_MOST:
        raise ValidationError(
            f"filter, filter.query and filter.facets have {in_all} values and ranges together, {TERMS_AT_MOST} are"
            " accepted.",
            "filter" if search.filters else "filter.query" if search.query_filters else "filter.facets",
        )
    facets, terms = len(search.facets), _terms_of((*search.query_filters, *search.facet_filters))
    if facets * terms > REPEATED_TERMS_AT_MOST:
        raise ValidationError(
            f"Each of {facets} facets repeats the {terms} values and ranges of filter.query and filter.facets,"
            f" {facets * terms} in all; {REPEATED_TERMS_AT_MOST} are accepted.",
            "facet",
        )


def _terms_of(filters: Iterable[Filter]) -> int:
    return sum(one.terms for one in filters)


_TEXTS = "text.<language>"

_LANGUAGE_NAME = len("text.")
"""The number of characters before the language in a parameter's name. The pattern of the interface allows any character
in place of the ``.``."""


class SearchSchema(PagingSchema):
    """The parameters of the search (interface 4.4)."""

    texts = ParameterFamily(
        r"text.[a-z]{2}(-[A-Z]{2})?",
        read_words,
        {**FILLED_TEXT_SCHEMA, "pattern": "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"},
        data_key=_TEXTS,
        meaning="words in this language; arrayOfStringExample and someProperty together have all of them",
        example={"text.en": "dogs"},
    )
    fuzzy = BooleanParameter(
        meaning="true: a word also matches similar words; a longer word allows more edits", example=True
    )
    fuzzy_level = Parameter(
        read_level,
        {"type": "number", "minimum": 0, "maximum": FUZZY_LEVEL_AT_MOST},
        data_key="fuzzyLevel",
        meaning="with `fuzzy=true`, the most edits of each word, rounded down, and never more than the word's length "
        "allows: 0 up to 2 characters, 1 up to 5, 2 above",
        example=1,
    )
    staged = BooleanParameter(meaning="true searches the staged projection instead of the current one", example=False)
    filter = Expressions(
        read_filters,
        data_key="filter",
        meaning="narrows the results: `path:values`, `path:range(a to b)`, `path:exists` or `path:missing`",
        example=["arrayOfIntExample:range(1 to 5)"],
    )
    facet_filter = Expressions(
        read_filters,
        data_key="filter.facets",
        meaning="a filter that narrows what facets count, except for facets on its own field",
        example=['arrayOfStringExample:"dog"'],
    )
    query_filter = Expressions(
        read_filters,
        data_key="filter.query",
        meaning="a filter that narrows the results and what facets count",
        example=["key:exists"],
    )
    facet = Expressions(
        read_facets,
        data_key="facet",
        meaning="what to count: `path`, `path:values` or `path:range(a to b)`, each optionally with `as name`",
        example=["arrayOfStringExample"],
    )

    def make(self, values: dict[str, Any]) -> Search:
        texts = tuple(
            SearchText(name[_LANGUAGE_NAME:], text) for name, given in values.get("texts", {}).items() for text in given
        )
        too_long = text_beyond(CHARACTERS_AT_MOST, texts, (len(text.text) for text in texts))
        if too_long is not None:
            reason = f"The texts of a search may have {CHARACTERS_AT_MOST} characters in all."
            raise ValidationError(reason, f"text.{too_long.language}")
        search = Search(
            projection=Projection.STAGED if values.get("staged") else Projection.CURRENT,
            texts=texts,
            fuzzy_level=values.get("fuzzy_level", FUZZY_LEVEL_AT_MOST) if values.get("fuzzy") else None,
            query_filters=values.get("query_filter", ()),
            filters=values.get("filter", ()),
            facet_filters=values.get("facet_filter", ()),
            facets=values.get("facet", ()),
            paging=paging_of(values),
        )
        _raise_if_too_many(search)
        return search


class SearchFormSchema(SearchSchema):
    """The parameters of the product projection search (interface 4.14).

    The interface declares no parameter of this endpoint, and its name leads clients to send those of the platform's
    endpoint of this name. These are ignored, and any other unknown parameter is refused: a search with a mistyped
    filter would find everything.
    """

    IGNORED = frozenset(
        (
            "markMatchingVariants",
            "expand",
            "priceCurrency",
            "priceCountry",
            "priceCustomerGroup",
            "priceCustomerGroupAssignments",
            "priceChannel",
            "priceRecurrencePolicy",
            "localeProjection",
            "storeProjection",
        )
    )
