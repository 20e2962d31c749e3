"""The two trees of a filter and of a facet: as it was parsed, and as it was resolved. Frozen.

Positions are offsets into the text, counted from 0; they take no part in comparisons.
"""

from dataclasses import dataclass, field

from app.query.fields import Field
from app.query.predicate.ast import Condition, Literal, Value

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
    """One of these."""

    items: tuple[Literal | Subtree, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """From a bound to a bound; None is the open end, ``*``."""

    low: Literal | None
    high: Literal | None


@dataclass(frozen=True, slots=True)
class Ranges:
    """In one of these."""

    items: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Presence:
    """There is a value, or there is none."""

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
    """What a path names: a field, or a member of the elements of an array."""

    field: Field
    element_of: Field | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the field that a path names."""

    at: FieldPath
    condition: Condition


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range of a facet: from ``low`` on and below ``high``; None is an open end."""

    low: Value | None
    high: Value | None


@dataclass(frozen=True, slots=True)
class Facet:
    """What is to be counted of a field, under a name.

    :param of: a condition: the resources that it holds of; ranges: those in each, with their values; None: those with
        each value.
    :param counting_products: show the count under a second name too.
    """

    name: str
    at: FieldPath
    of: Condition | tuple[Bounds, ...] | None
    counting_products: bool
