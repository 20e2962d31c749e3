"""The operators of the query language: one row says all that there is to say about one.

An atom is either true or false, never unknown: ``absent`` says which of the two the operator is where the field is
absent, and the compiler turns SQL's NULL into that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import LiteralString

from app.query.fields import Kind


class Arity(Enum):
    """How many operands there are."""

    NONE = "no operand"
    ONE = "one operand"
    LIST = "a list"


class Search(Enum):
    """How an array of scalars is searched, where no SQL of the row's own does it."""

    CONTAINS_ANY = "the document contains one of the values in the array; the GIN index serves it"
    CONTAINS_ALL = "the document contains all of the values in the array; the GIN index serves it"
    ELEMENT = "a jsonpath finds an element; twice as fast as unnesting the array"


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """A row.

    :param token: the operator as it is written.
    :param kinds: the kinds of field that have it.
    :param scalar: SQL over ``{field}`` and ``{value}``, a list for operators that take one.
    :param array: the same for an array of scalars, or the way in which it is searched.
    :param member: jsonpath over ``{it}`` and ``{value}``, for an element of an array or a member of one.
    :param equality: holds exactly for the values given, so that a document with them can be looked for instead.
    :param absent: what it is where the field is absent.
    """

    token: str
    arity: Arity
    kinds: frozenset[Kind]
    scalar: LiteralString = ""
    array: LiteralString | Search = ""
    member: LiteralString = ""
    equality: bool = False
    absent: bool = False


_SCALARS = frozenset((Kind.ID, Kind.TEXT, Kind.NUMBER, Kind.TIME))
_ARRAYS = frozenset((Kind.TEXTS, Kind.NUMBERS))
_COMPARABLE = _SCALARS | _ARRAYS

_ROWS = (
    Operator(
        "=",
        Arity.ONE,
        _COMPARABLE,
        scalar="{field} = {value}",
        array=Search.CONTAINS_ANY,
        member="{it} == {value}",
        equality=True,
    ),
    Operator(
        "in",
        Arity.LIST,
        _COMPARABLE,
        scalar="{field} = ANY ({value})",
        array=Search.CONTAINS_ANY,
        member="{it} == {value}[*]",
        equality=True,
    ),
    Operator("<", Arity.ONE, _COMPARABLE, scalar="{field} < {value}", array=Search.ELEMENT, member="{it} < {value}"),
    Operator(">", Arity.ONE, _COMPARABLE, scalar="{field} > {value}", array=Search.ELEMENT, member="{it} > {value}"),
    Operator("<=", Arity.ONE, _COMPARABLE, scalar="{field} <= {value}", array=Search.ELEMENT, member="{it} <= {value}"),
    Operator(">=", Arity.ONE, _COMPARABLE, scalar="{field} >= {value}", array=Search.ELEMENT, member="{it} >= {value}"),
    Operator("contains any", Arity.LIST, _ARRAYS, array=Search.CONTAINS_ANY),
    Operator("contains all", Arity.LIST, _ARRAYS, array=Search.CONTAINS_ALL),
    Operator(
        "is defined",
        Arity.NONE,
        frozenset(Kind),
        scalar="{field} IS NOT NULL",
        array="{field} IS NOT NULL",
        member="exists({it})",
    ),
    Operator(
        "is empty",
        Arity.NONE,
        _ARRAYS | {Kind.OBJECTS},
        array="jsonb_array_length({field}) = 0",
        absent=True,
    ),
    # The letters of the database's own locale, since the columns' collation, "C", has only those of ASCII.
    Operator(
        "matches ignore case",
        Arity.ONE,
        frozenset((Kind.ID, Kind.TEXT, Kind.TEXTS)),
        scalar='lower({field} COLLATE "default") = lower({value} COLLATE "default")',
        array="EXISTS (SELECT FROM jsonb_array_elements_text({field}) e (value)"
        ' WHERE lower(e.value COLLATE "default") = lower({value} COLLATE "default"))',
    ),
)

OPERATORS: Mapping[str, Operator] = {row.token: row for row in _ROWS}
"""The operators by their tokens."""

CLOSED_RANGE = Operator(
    "range",
    Arity.LIST,
    _ARRAYS,
    array=Search.ELEMENT,
    member="{it} >= {value}[0] && {it} <= {value}[1]",
)
"""One element lies between two bounds or on them. Not a token of predicates, which say it with two comparisons; on an
array of scalars these need not hold of the same element."""

NEGATIONS: Mapping[str, Operator] = {
    "!=": OPERATORS["="],
    "<>": OPERATORS["="],
    "not in": OPERATORS["in"],
    "is not defined": OPERATORS["is defined"],
    "is not empty": OPERATORS["is empty"],
}
"""Tokens that say that an operator does not hold."""


def tokens_of(kind: Kind) -> list[str]:
    """What can be written after a field of this kind."""
    known = [row.token for row in _ROWS if kind in row.kinds]
    return known + [token for token, row in NEGATIONS.items() if kind in row.kinds]
