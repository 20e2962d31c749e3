"""Parses predicates."""

import re
from typing import Any, cast

from lark import Token, v_args

from app.query.language import InvalidExpression, Language, Terms, TreeMaker, number_of, place, position_of, text_of
from app.query.predicate.ast import And, Atom, Literal, Name, Nested, Not, Operand, Or, Parsed, Variable
from app.query.predicate.operators import NEGATIONS, OPERATORS

DEPTH_AT_MOST = 32
"""Nested parentheses. It also bounds every recursion over the trees."""

TERMS_AT_MOST = 500
"""Terms of all predicates of a request: each comparison is one, and each value of a list."""


def terms_of_request() -> Terms:
    """The count of the terms of all predicates of a request, which begins with none."""
    return Terms(
        TERMS_AT_MOST,
        f"The predicates have more than {TERMS_AT_MOST} terms; each comparison is one, and each value of a list.",
    )


def parse(text: str, terms: Terms) -> Parsed:
    """Parse a predicate; the trees of short texts are cached.

    :param terms: counts those of this predicate, too, with one for each variable.
    :raises InvalidExpression: for a text that is nested too deep or is no predicate.
    :raises TooManyTerms: if this predicate and those before it have too many terms.
    """
    return cast("Parsed", _LANGUAGE.parse(text, terms, quoted="where"))


_QUOTED = r'"(?:[^"\\]|\\.)*+"?|`[^`]*+`?'
"""Strings and quoted names, in which other signs mean nothing. The quantifiers are possessive, so that the rest after
an unclosed quote is scanned only once."""

_SEPARATOR = re.compile(rf"{_QUOTED}|(,|[<>=!]+|(?<![a-z0-9_-])(?:and|or)(?![a-z0-9_-]))", re.DOTALL | re.IGNORECASE)

_PARENTHESIS = re.compile(rf"{_QUOTED}|[()]", re.DOTALL)


def _terms_of(text: str) -> int:
    """The terms of a predicate: one more than the words that join them, and one for each comma of a list.

    A text that is no predicate may lack those words and have comparisons.
    """
    commas = comparisons = joints = 0
    for sign in _SEPARATOR.findall(text):
        if sign == ",":
            commas += 1
        elif sign[:1] in "<>=!":
            comparisons += bool(sign)
        else:
            joints += 1
    return commas + max(comparisons, joints + 1)


def _raise_if_too_deep(text: str) -> None:
    depth = 0
    for match in _PARENTHESIS.finditer(text):
        if match.group() == "(":
            depth += 1
            if depth > DEPTH_AT_MOST:
                where = place(text, match.start())
                raise InvalidExpression(f"The predicate is nested deeper than {DEPTH_AT_MOST} parentheses {where}.")
        elif match.group() == ")":
            depth -= 1


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

    def negation(self, term: Parsed) -> Parsed:
        return Not(term)

    def nested(self, name: Name, term: Parsed) -> Parsed:
        return Nested(name, term)

    def comparison(self, name: Name, token: Token, operand: Operand) -> Parsed:
        return Atom(name, token.value, (operand,))

    def field(self, token: Token) -> Name:
        text = token.value.strip("`") if token.type == "QUOTED_NAME" else token.value
        return Name(text, position_of(token))

    def text(self, token: Token) -> Literal:
        return Literal(text_of(token.value), position_of(token))

    def number(self, token: Token) -> Literal:
        return Literal(number_of(token.value), position_of(token))

    def boolean(self, token: Token) -> Literal:
        return Literal(token.value.lower() == "true", position_of(token))

    def variable(self, token: Token) -> Variable:
        return Variable(token.value[1:], position_of(token))


_LANGUAGE = Language(
    "app.query.predicate",
    _TreeMaker(),
    signs={"LPAR": ("(",), "RPAR": (")",), "COMMA": (",",), "COMPARISON": ("=", "!=", "<>", "<", ">", "<=", ">=")},
    terms_of=_terms_of,
    check=_raise_if_too_deep,
)
