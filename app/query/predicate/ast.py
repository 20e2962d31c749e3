"""The two trees of a predicate: parsed, and resolved. Each stage has types of its own, all frozen.

Positions are offsets into the predicate's text, counted from 0. Comparisons ignore them, so that two texts which differ
only in white space have equal trees.
"""

from dataclasses import dataclass, field

from app.query.fields import Field
from app.query.kinds import Number, Value
from app.query.predicate.operators import Operator

# Parsed


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a field, without backticks."""

    text: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a number or a boolean that the predicate contains."""

    value: str | Number | bool
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """``:name``; the query string has its values."""

    name: str
    position: int = field(compare=False)


Operand = Literal | Variable


@dataclass(frozen=True, slots=True)
class And:
    """All terms hold."""

    terms: tuple["Parsed", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one term holds."""

    terms: tuple["Parsed", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The term does not hold."""

    term: "Parsed"


@dataclass(frozen=True, slots=True)
class Nested:
    """A condition on the fields of an object, or on those of one element of an array."""

    name: Name
    term: "Parsed"


@dataclass(frozen=True, slots=True)
class Atom:
    """A field, an operator by its token, and its operands."""

    name: Name
    operator: str
    operands: tuple[Operand, ...]


Parsed = And | Or | Not | Nested | Atom

# Resolved: every field is known, every value has the field's type, and only atoms are negated.


@dataclass(frozen=True, slots=True)
class AllOf:
    """All conditions hold."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition holds."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Holds:
    """An operator holds for a field, or does not hold if ``negated``. It is true or false, never unknown."""

    field: Field
    operator: Operator
    values: tuple[Value, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class HasElement:
    """One element of an array fulfils the condition, or none does if it is negated.

    :param condition: on members of the element; if it is a number or a text itself, on the field of the array.
    """

    field: Field
    condition: "Condition"
    negated: bool


@dataclass(frozen=True, slots=True)
class Contains:
    """The ObjectType contains a document, a JSON text, by jsonb's ``@>``."""

    document: str


Condition = AllOf | AnyOf | Holds | HasElement | Contains
