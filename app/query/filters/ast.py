"""The parsed and the resolved trees of filters and facets. All types are frozen.

Positions are offsets into the text, counted from 0. Comparisons ignore them.
"""

from dataclasses import dataclass, field

from app.query.fields import Field
from app.query.kinds import Value
from app.query.language import Literal
from app.query.predicate.ast import Condition, Name

# Parsed


@dataclass(frozen=True, slots=True)
class Subtree:
    """The expression ``subtree("...")``: a node of a hierarchy and all nodes below it."""

    root: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Values:
    """The expression that the field has one of these values."""

    items: tuple[Literal | Subtree, ...]


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


# Resolved


@dataclass(frozen=True, slots=True)
class FieldPath:
    """The field that a path names. If the field is a member of an array's elements, ``element_of`` is the array."""

    field: Field
    element_of: Field | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the field that a path names.

    :param terms: the number of its values and ranges; ``exists`` and ``missing`` count as one.
    """

    path: FieldPath
    condition: Condition
    terms: int


Bounds = tuple[Value | None, Value | None]
"""A range. A facet counts values from the first bound to less than the second; a filter includes the second. None is an
open end."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet: it counts resources by the values of a field.

    :param groups: a condition to count the resources that fulfil it; ranges to count the resources with a value in
        each, with statistics of these values; None to count the resources with each value that occurs.
    :param counting_products: whether the result repeats each count as ``productCount``.
    """

    name: str
    path: FieldPath
    groups: Condition | tuple[Bounds, ...] | None
    counting_products: bool
