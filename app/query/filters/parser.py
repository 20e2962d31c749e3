"""Parses filters and facets to trees."""

from dataclasses import dataclass
from typing import cast

from lark import Token, v_args

from app.query.language import Language, Literal, TreeMaker, position_of
from app.query.predicate.parser import Name

# The tree of a filter or facet. Positions are offsets into the text, counted from 0. Comparisons ignore them.


@dataclass(frozen=True, slots=True)
class Values:
    """The expression that the field has one of these values."""

    items: tuple[Literal, ...]


Range = tuple[Literal | None, Literal | None]
"""A range between two bounds. None is an open end, which is written ``*``."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """The expression that the field has a value in one of these ranges."""

    items: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Presence:
    """The expression ``exists`` or ``missing``: the field has a value, or it has none."""

    exists: bool


@dataclass(frozen=True, slots=True)
class ParsedFilter:
    """A parsed filter, ``path: expression``."""

    path: Name
    expression: Values | Ranges | Presence


@dataclass(frozen=True, slots=True)
class ParsedFacet:
    """A parsed facet, ``path[: expression] [as alias] [counting products]``."""

    path: Name
    expression: Values | Ranges | None
    alias: str | None
    counting_products: bool


# Parsing


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
        """The name after ``as``."""
        return name.value

    def counting(self) -> bool:
        """The mark ``counting products``."""
        return True

    def values(self, *items: Literal) -> Values:
        return Values(items)

    def ranges(self, *items: Range) -> Ranges:
        return Ranges(items)

    def range(self, low: Literal | None, high: Literal | None) -> Range:
        """A range: its bounds, of which None is an open end."""
        return low, high

    def open(self) -> None:  # the open end of a range
        return None

    def exists(self) -> Presence:
        return Presence(exists=True)

    def missing(self) -> Presence:
        return Presence(exists=False)


_LANGUAGE = Language("app.query.filters", _TreeMaker(), starts=("filter", "facet"))
