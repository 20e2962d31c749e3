"""Parses filters and facets to the trees of :mod:`app.query.filters.ast`."""

from typing import cast

from lark import Token, v_args

from app.query.filters.ast import ParsedFacet, ParsedFilter, Presence, Range, Ranges, Subtree, Values
from app.query.language import Language, TreeMaker, number_of, position_of, text_of
from app.query.predicate.ast import Literal, Name


def parse_filter(text: str) -> ParsedFilter:
    """Parse a filter; the trees of short texts are cached.

    :raises ValidationError: for a text that is no filter.
    """
    return cast("ParsedFilter", _LANGUAGE.parse(text, "filter"))


def parse_facet(text: str) -> ParsedFacet:
    """Parse a facet; the trees of short texts are cached.

    :raises ValidationError: for a text that is no facet.
    """
    return cast("ParsedFacet", _LANGUAGE.parse(text, "facet"))


class _Counting:
    """Marks ``counting products`` among the parts of a facet during parsing."""


@v_args(inline=True)
class _TreeMaker(TreeMaker):
    def filter(self, path: Token, expression: Values | Ranges | Presence) -> ParsedFilter:
        return ParsedFilter(Name(path.value, position_of(path)), expression)

    def facet(self, path: Token, *parts: Values | Ranges | Token | _Counting) -> ParsedFacet:
        expression = next((part for part in parts if isinstance(part, Values | Ranges)), None)
        alias = next((part.value for part in parts if isinstance(part, Token)), None)
        counting = any(isinstance(part, _Counting) for part in parts)
        return ParsedFacet(Name(path.value, position_of(path)), expression, alias, counting)

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


_LANGUAGE = Language(
    "app.query.filters",
    _TreeMaker(),
    signs={"COLON": (":",), "LPAR": ("(",), "RPAR": (")",), "COMMA": (",",), "STAR": ("*",)},
    starts=("filter", "facet"),
)
