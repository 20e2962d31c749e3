"""Conditions on resources: the resolved trees of predicates, filters and facets, and what the list's own parameters
mean.

Every field is known, every value is one that the field's kind can be compared with, and only Holds and HasElement are
negated. All types are frozen.
"""

from dataclasses import dataclass

from app.query.fields import Field
from app.query.kinds import Value
from app.query.predicate.operators import Operator


@dataclass(frozen=True, slots=True)
class AllOf:
    """A condition that holds if all of its conditions hold."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A condition that holds if at least one of its conditions holds."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Holds:
    """The condition that an operator holds for a field, or does not hold if ``negated``. It is never unknown (NULL)."""

    field: Field
    operator: Operator
    values: tuple[Value, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class HasElement:
    """The condition that an element of an array fulfils a condition, or that no element does if ``negated``.

    :param condition: for elements that are objects, a condition on their members; for numbers and texts, a condition on
        the field of the array.
    """

    field: Field
    condition: "Condition"
    negated: bool


@dataclass(frozen=True, slots=True)
class Contains:
    """The condition that the ObjectType contains a JSON document, as defined by jsonb's ``@>``."""

    document: str


Condition = AllOf | AnyOf | Holds | HasElement | Contains
