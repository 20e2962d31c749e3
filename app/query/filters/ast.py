"""Filters and facets have two trees each: one as parsed, one with its names resolved. All types are frozen.

Positions are offsets into the text, counted from 0. Comparisons ignore them.
"""

from dataclasses import dataclass, field

from app.query.fields import Field
from app.query.kinds import Value
from app.query.predicate.ast import Condition, Literal

# Parsed


@dataclass(frozen=True, slots=True)
class Path:
    """Names with dots between them."""

    text: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Subtree:
    """``subtree("...")``: a node of a hierarchy and all below it."""

    root: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Values:
    """The field has one of these values."""

    items: tuple[Literal | Subtree, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """Between two bounds; None is the open end, ``*``."""

    low: Literal | None
    high: Literal | None


@dataclass(frozen=True, slots=True)
class Ranges:
    """The field has a value in one of these ranges."""

    items: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Presence:
    """The field has a value, or it has none."""

    exists: bool


@dataclass(frozen=True, slots=True)
class ParsedFilter:
    """``path: expression``."""

    path: Path
    expression: Values | Ranges | Presence


@dataclass(frozen=True, slots=True)
class ParsedFacet:
    """``path[: expression] [as alias] [counting products]``."""

    path: Path
    expression: Values | Ranges | None
    alias: str | None
    counting_products: bool


# Resolved


@dataclass(frozen=True, slots=True)
class FieldPath:
    """The field that a path names; if it is a member of the elements of an array, ``element_of`` is that array."""

    field: Field
    element_of: Field | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the field that a path names.

    :param terms: its values and ranges; ``exists`` and ``missing`` are one.
    """

    path: FieldPath
    condition: Condition
    terms: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range of a facet: at least ``low`` and less than ``high``; None is an open end."""

    low: Value | None
    high: Value | None


@dataclass(frozen=True, slots=True)
class Facet:
    """Counts of resources by a field.

    :param groups: what is counted. A condition: the resources that it holds for; ranges: those with a value in each,
        and statistics of these values; None: the resources with each value that occurs.
    :param counting_products: the result shows each count under a second name too.
    """

    name: str
    path: FieldPath
    groups: Condition | tuple[Bounds, ...] | None
    counting_products: bool
