"""The parsed and the resolved tree of a predicate. Each tree has its own types, all frozen.

Positions are offsets into the predicate's text, counted from 0. Comparisons ignore them, so that two texts which differ
only in white space have equal trees.
"""

from dataclasses import dataclass, field

from app.query.fields import Field
from app.query.kinds import Value
from app.query.language import Literal
from app.query.predicate.operators import Operator

# Parsed


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a field, without backticks; in a filter or facet, the path to a field."""

    text: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """The variable ``:name``, whose values are in the query string."""

    name: str
    position: int = field(compare=False)


Operand = Literal | Variable


@dataclass(frozen=True, slots=True)
class And:
    """The term ``a and b ...``: it holds if all of its terms hold."""

    terms: tuple["Parsed", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The term ``a or b ...``: it holds if at least one of its terms holds."""

    terms: tuple["Parsed", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The term ``not a``: it holds if its term does not hold."""

    term: "Parsed"


@dataclass(frozen=True, slots=True)
class Nested:
    """A term on the fields of an object, or on the fields of one element of an array."""

    name: Name
    term: "Parsed"


@dataclass(frozen=True, slots=True)
class Atom:
    """A comparison: a field, the token of an operator, and the operands."""

    name: Name
    operator: str
    operands: tuple[Operand, ...]


Parsed = And | Or | Not | Nested | Atom

# Resolved: every field is known, every value has the field's type, and only Holds and HasElement are negated.


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
