"""Parses filters and facets to the trees of :mod:`app.query.filters.ast`."""

from typing import cast

from lark import Token, v_args

from app.query.filters.ast import ParsedFacet, ParsedFilter, Presence, Range, Ranges, Subtree, Values
from app.query.language import Language, Literal, TreeMaker, position_of, text_of
from app.query.predicate.ast import Name


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


@v_args(inline=True)
class _TreeMaker(TreeMaker):
    def filter(self, path: Token, expression: Values | Ranges | Presence) -> ParsedFilter:
        return ParsedFilter(Name(path.value, position_of(path)), expression)

    def facet(
        self, path: Token, expression: Values | Ranges | None, alias: str | None, counting: bool | None
    ) -> ParsedFacet:
        return ParsedFacet(Name(path.value, position_of(path)), expression, alias, counting_products=bool(counting))

    def alias(self, name: Token) -> str:
        return name.value

    def counting(self) -> bool:
        return True

    def values(self, *items: Literal | Subtree) -> Values:
        return Values(items)

    def subtree(self, root: Token) -> Subtree:
        return Subtree(text_of(root.value), position_of(root))

    def ranges(self, *items: Range) -> Ranges:
        return Ranges(items)

    def range(self, low: Literal | None, high: Literal | None) -> Range:
        return low, high

    def open(self) -> None:
        return None

    def exists(self) -> Presence:
        return Presence(exists=True)

    def missing(self) -> Presence:
        return Presence(exists=False)


_LANGUAGE = Language("app.query.filters", _TreeMaker(), starts=("filter", "facet"))
