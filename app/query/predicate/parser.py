"""Parses predicates to the tree of :mod:`app.query.predicate.ast`."""

from typing import Any, cast

from lark import Token, v_args

from app.query.language import Language, TreeMaker, position_of
from app.query.predicate.ast import And, Atom, Name, Nested, Not, Operand, Or, Parsed, Variable
from app.query.predicate.operators import NEGATIONS, OPERATORS


def parse(text: str) -> Parsed:
    """Parse a predicate; the trees of short texts are cached.

    :raises ValidationError: for a text that is nested too deep or is no predicate.
    """
    return cast("Parsed", _LANGUAGE.parse(text))


@v_args(inline=True)
class _TreeMaker(TreeMaker):
    def __default__(self, data: str, children: list[Any], meta: Any) -> Any:
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
        return Atom(name, token.value, (operand,))

    def field(self, token: Token) -> Name:
        text = token.value.strip("`") if token.type == "QUOTED_NAME" else token.value
        return Name(text, position_of(token))

    def variable(self, token: Token) -> Variable:
        return Variable(token.value[1:], position_of(token))


_LANGUAGE = Language("app.query.predicate", _TreeMaker(), called="where")
