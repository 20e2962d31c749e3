"""The operators of the query language, one row each.

A comparison is either true or false, never unknown. ``absent`` is its result if the field is absent; the compiler
replaces SQL's NULL by this result where it makes a difference.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import LiteralString

from app.query.fields import Field, Index


class Arity(Enum):
    """The number of operands of an operator."""

    NONE = "no operand"
    ONE = "one operand"
    LIST = "a list"


class ArraySearch(Enum):
    """The way to search an array of scalars for an operator without special SQL for arrays."""

    CONTAINS_ANY = "the document contains one of the values in the array"
    CONTAINS_ALL = "the document contains all of the values in the array"
    HAS_ITEM = "``member`` holds for an item of the array"


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator of the query language.

    :param token: the operator as it is written in a predicate.
    :param scalar: SQL with ``{field}`` and, if the operator takes one, ``{value}``, which is an array if it takes a
        list. Empty if the operator applies to arrays only.
    :param array: for an array, such SQL, or the way in which the array is searched.
    :param member: jsonpath with ``{it}`` and at most one ``{value}``, for an element of an array or a member of an
        element. For a list, one of the values has to fulfil it. Empty if no element and no member has the operator.
    :param indexed: the kinds of conditions that it forms, which an index of the field may serve.
    :param absent: the result of the operator if the field is absent.
    :param of_texts: whether the operator applies only to fields that are compared as texts.
    """

    token: str
    arity: Arity
    scalar: LiteralString = ""
    array: LiteralString | ArraySearch = ""
    member: LiteralString = ""
    indexed: Index = Index(0)
    absent: bool = False
    of_texts: bool = False

    @property
    def is_equality(self) -> bool:
        """Whether this is ``=`` or ``in``, for which the compiler has a form of its own for ids and long texts."""
        # Four operators have VALUES. Two of them, ``contains any`` and ``contains all``, have no SQL for scalars.
        return bool(self.scalar) and Index.VALUES in self.indexed

    def fits(self, field: Field) -> bool:
        """Whether predicates may use this operator on a field. All of this must be true:

        - The operator has SQL for the field: ``array`` if the field is an array, otherwise ``scalar``.
        - The operator has no operand, or the field has values that can be compared with operands. Objects have none.
        - The operator is for any field (``of_texts`` is false), or the field is compared as a text.

        The template ``member`` needs no check. Predicates use it in two cases, and it is never empty there:

        - The operator searches an array by ``HAS_ITEM``. Every operator with ``HAS_ITEM`` has a ``member``.
        - The field is a member of an array's elements. All such fields are numbers, and every operator that fits a
          number that is not an array has a ``member``.
        """
        has_sql = bool(self.array) if field.is_array else bool(self.scalar)
        has_values = self.arity is Arity.NONE or bool(field.kind.literals)
        return has_sql and has_values and (field.kind.cast == "text" or not self.of_texts)


_ROWS = (
    Operator(
        "=",
        Arity.ONE,
        scalar="{field} = {value}",
        array=ArraySearch.CONTAINS_ANY,
        member="{it} == {value}",
        indexed=Index.VALUES | Index.ORDER,
    ),
    Operator(
        "in",
        Arity.LIST,
        scalar="{field} = ANY ({value})",
        array=ArraySearch.CONTAINS_ANY,
        member="{it} == {value}",
        indexed=Index.VALUES,
    ),
    *(
        Operator(
            sign,
            Arity.ONE,
            scalar=f"{{field}} {sign} {{value}}",
            array=ArraySearch.HAS_ITEM,
            member=f"{{it}} {sign} {{value}}",
            indexed=Index.ORDER,
        )
        for sign in ("<", ">", "<=", ">=")
    ),
    Operator("contains any", Arity.LIST, array=ArraySearch.CONTAINS_ANY, indexed=Index.VALUES),
    Operator("contains all", Arity.LIST, array=ArraySearch.CONTAINS_ALL, indexed=Index.VALUES),
    Operator(
        "is defined", Arity.NONE, scalar="{field} IS NOT NULL", array="{field} IS NOT NULL", member="exists({it})"
    ),
    Operator("is empty", Arity.NONE, array="jsonb_array_length({field}) = 0", absent=True),
    # COLLATE "default" is the locale of the database, which decides what the small letter of each letter is, such as
    # that of a capital sigma at the end of a word. The collation of the columns, "C", would fold only ASCII letters.
    Operator(
        "matches ignore case",
        Arity.ONE,
        scalar='lower({field} COLLATE "default") = lower({value} COLLATE "default")',
        array="EXISTS (SELECT FROM jsonb_array_elements_text({field}) e (value)"
        ' WHERE lower(e.value COLLATE "default") = lower({value} COLLATE "default"))',
        of_texts=True,
    ),
)

OPERATORS: Mapping[str, Operator] = {row.token: row for row in _ROWS}
"""The operators by their tokens, without the negations."""

NEGATIONS: Mapping[str, Operator] = {
    "!=": OPERATORS["="],
    "<>": OPERATORS["="],
    "not in": OPERATORS["in"],
    "is not defined": OPERATORS["is defined"],
    "is not empty": OPERATORS["is empty"],
}
"""The operator that each negated token negates."""


def tokens_of(field: Field) -> list[str]:
    """The tokens of all operators that fit a field, for a message."""
    known = [row.token for row in _ROWS if row.fits(field)]
    return known + [token for token, row in NEGATIONS.items() if row.fits(field)]
