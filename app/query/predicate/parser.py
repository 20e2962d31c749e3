"""Parses predicates to trees.

Positions are offsets into the predicate's text, counted from 0. Comparisons ignore them, so that two texts which differ
only in white space between tokens have equal trees, as tests demand.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from lark import Token, v_args

from app.query.language import Language, Literal, TreeMaker, position_of
from app.query.predicate.operators import NEGATIONS, OPERATORS

# The tree


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
    token: str
    operands: tuple[Operand, ...]


Parsed = And | Or | Not | Nested | Atom


# Parsing


def parse(text: str) -> Parsed:
    """Parse a predicate; the trees of short texts are cached.

    :raises ValidationError: for a text that is nested too deep or is no predicate.
    """
    return cast("Parsed", _LANGUAGE.parse(text))


@v_args(inline=True)
class _TreeMaker(TreeMaker):
    def __default__(self, data: str, children: list[Any], meta: Any) -> Any:
        """Make the node of a rule that has no method of its own (called by Lark).

        - A rule that is named after its operator, such as ``is_not_defined``, becomes an Atom.
        - A rule whose name begins with an underscore, such as ``_operands``, becomes Lark's own tree. Lark then puts
          the children of this tree in its place.

        The children come as one list, because ``v_args`` skips methods whose names begin with an underscore.
        """
        token = data.replace("_", " ")
        if token in OPERATORS or token in NEGATIONS:
            name, *operands = children
            return Atom(name, token, tuple(operands))
        return super().__default__(data, children, meta)

    def disjunction(self, *terms: Parsed) -> Parsed:
        return Or(terms)

    def conjunction(self, *terms: Parsed) -> Parsed:
        return And(terms)

    negation = Not
    nested = Nested

    def comparison(self, name: Name, token: Token, operand: Operand) -> Parsed:
        """A comparison by a sign, such as ``=``."""
        return Atom(name, token.value, (operand,))

    def field(self, token: Token) -> Name:
        """The name of a field, without its backticks."""
        return Name(token.value.strip("`") if token.type == "QUOTED_NAME" else token.value, position_of(token))

    def variable(self, token: Token) -> Variable:
        """A variable, without its colon."""
        return Variable(token.value[1:], position_of(token))


_LANGUAGE = Language("app.query.predicate", _TreeMaker(), called="where")
