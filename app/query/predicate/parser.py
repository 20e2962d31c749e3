"""Parses predicates."""

import re
from typing import cast

from lark import Token, v_args

from app.query.language import InvalidExpression, Language, TreeMaker, number_of, place, position_of, text_of
from app.query.predicate.ast import And, Atom, Literal, Name, Nested, Not, Operand, Or, Parsed, Variable

DEPTH_AT_MOST = 32
"""Nested parentheses. It also bounds every recursion over the trees."""

TERMS_AT_MOST = 500
"""Terms of all predicates of a request: each comparison is one, and each value of a list."""

TOO_MANY_TERMS = (
    f"The predicates have more than {TERMS_AT_MOST} terms; each comparison is one, and each value of a list."
)


def parse(text: str) -> Parsed:
    """Parse a predicate; the trees of short texts are cached.

    :raises InvalidExpression: for a text that is too long, nested too deep, has too many terms or is no predicate.
    """
    return cast("Parsed", _LANGUAGE.parse(text, quoted="where"))


_SIGN = re.compile(
    r'"(?:[^"\\]|\\.)*+"?|`[^`]*+`?|[(),]|[<>=!]+|(?<![a-z0-9_-])(?:and|or)(?![a-z0-9_-])', re.DOTALL | re.IGNORECASE
)
"""The tokens that depth and size are counted by, and the strings and quoted names that may contain such characters.

The quantifiers are possessive, so that the rest after an unclosed quote is scanned only once.
"""


def _raise_if_too_large(text: str) -> None:
    """Refuse a text that is nested too deep or certainly has too many terms, which the parser would take long for."""
    depth = commas = comparisons = joints = 0
    for match in _SIGN.finditer(text):
        match match.group():
            case "(":
                depth += 1
                if depth > DEPTH_AT_MOST:
                    where = place(text, match.start())
                    raise InvalidExpression(f"The predicate is nested deeper than {DEPTH_AT_MOST} parentheses {where}.")
            case ")":
                depth -= 1
            case ",":
                commas += 1
            case sign if sign[0] in "<>=!":
                comparisons += 1
            case sign if sign[0] not in '"`':
                joints += 1
            case _:
                pass
    if commas + max(comparisons, joints + 1) > TERMS_AT_MOST:
        raise InvalidExpression(TOO_MANY_TERMS)


@v_args(inline=True)
class _TreeMaker(TreeMaker):
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

    def is_in(self, name: Name, *operands: Operand) -> Parsed:
        return Atom(name, "in", operands)

    def is_not_in(self, name: Name, *operands: Operand) -> Parsed:
        return Atom(name, "not in", operands)

    def contains_any(self, name: Name, *operands: Operand) -> Parsed:
        return Atom(name, "contains any", operands)

    def contains_all(self, name: Name, *operands: Operand) -> Parsed:
        return Atom(name, "contains all", operands)

    def is_defined(self, name: Name) -> Parsed:
        return Atom(name, "is defined", ())

    def is_not_defined(self, name: Name) -> Parsed:
        return Atom(name, "is not defined", ())

    def is_empty(self, name: Name) -> Parsed:
        return Atom(name, "is empty", ())

    def is_not_empty(self, name: Name) -> Parsed:
        return Atom(name, "is not empty", ())

    def matches_ignore_case(self, name: Name, operand: Operand) -> Parsed:
        return Atom(name, "matches ignore case", (operand,))

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
    "predicate",
    _TreeMaker(),
    signs={"LPAR": ("(",), "RPAR": (")",), "COMMA": (",",), "COMPARISON": ("=", "!=", "<>", "<", ">", "<=", ">=")},
    check=_raise_if_too_large,
)
