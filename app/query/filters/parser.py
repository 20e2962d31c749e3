"""Parses filters and facets."""

import re
from typing import cast

from lark import Token, v_args

from app.query.filters.ast import ParsedFacet, ParsedFilter, Path, Presence, Range, Ranges, Subtree, Values
from app.query.language import Language, Terms, TreeMaker, number_of, position_of, text_of
from app.query.predicate.ast import Literal

TERMS_AT_MOST = 500
"""Values and ranges of all filters, or of all facets; ``exists`` and ``missing`` are one of them."""


def terms_of_parameter() -> Terms:
    """The count of the terms of one parameter, which begins with none."""
    return Terms(TERMS_AT_MOST, f"There are more than {TERMS_AT_MOST} values and ranges.")


def parse_filter(text: str, terms: Terms) -> ParsedFilter:
    """Parse a filter; the trees of short texts are cached.

    :param terms: counts those of this filter, too.
    :raises InvalidExpression: for a text that is no filter.
    :raises TooManyTerms: if this filter and those before it have too many terms.
    """
    return cast("ParsedFilter", _LANGUAGE.parse(text, terms, "filter"))


def parse_facet(text: str, terms: Terms) -> ParsedFacet:
    """Parse a facet; the trees of short texts are cached.

    :param terms: counts those of this facet, too.
    :raises InvalidExpression: for a text that is no facet.
    :raises TooManyTerms: if this facet and those before it have too many terms.
    """
    return cast("ParsedFacet", _LANGUAGE.parse(text, terms, "facet"))


class _Counting:
    """``counting products``, as a part of a facet that is being parsed."""


@v_args(inline=True)
class _TreeMaker(TreeMaker):
    def filter(self, path: Token, expression: Values | Ranges | Presence) -> ParsedFilter:
        return ParsedFilter(Path(path.value, position_of(path)), expression)

    def facet(self, path: Token, *parts: Values | Ranges | Token | _Counting) -> ParsedFacet:
        expression = next((part for part in parts if isinstance(part, Values | Ranges)), None)
        alias = next((part.value for part in parts if isinstance(part, Token)), None)
        counting = any(isinstance(part, _Counting) for part in parts)
        return ParsedFacet(Path(path.value, position_of(path)), expression, alias, counting)

    def alias(self, name: Token) -> Token:
        return name

    def counting(self) -> _Counting:
        return _Counting()

    def values(self, *items: Literal | Subtree) -> Values:
        return Values(items)

    def subtree(self, root: Token) -> Subtree:
        return Subtree(text_of(root.value), position_of(root))

    def ranges(self, *items: Range) -> Ranges:
        return Ranges(items)

    def range(self, low: Literal | None, high: Literal | None) -> Range:
        return Range(low, high)

    def open(self) -> None:
        return None

    def exists(self) -> Presence:
        return Presence(exists=True)

    def missing(self) -> Presence:
        return Presence(exists=False)

    def text(self, token: Token) -> Literal:
        return Literal(text_of(token.value), position_of(token))

    def number(self, token: Token) -> Literal:
        return Literal(number_of(token.value), position_of(token))

    def boolean(self, token: Token) -> Literal:
        return Literal(token.value.lower() == "true", position_of(token))


_SIGN = re.compile(r'"(?:[^"\\]|\\.)*+"?|,', re.DOTALL)
"""A comma, or a string that may contain some. The quantifier is possessive, so that the rest after an unclosed quote is
scanned only once."""


def _terms_of(text: str) -> int:
    """The terms of a filter or facet: one more than there are commas, unless it is a path alone."""
    _, _, expression = text.partition(":")
    return 1 + _SIGN.findall(expression).count(",") if expression.strip() else 0


_LANGUAGE = Language(
    "app.query.filters",
    _TreeMaker(),
    signs={"COLON": (":",), "LPAR": ("(",), "RPAR": (")",), "COMMA": (",",), "STAR": ("*",)},
    terms_of=_terms_of,
    starts=("filter", "facet"),
)
