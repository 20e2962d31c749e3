"""Text to parsed tree, and the message for a text that is none.

A message has the platform's form: what stands where the text departs from the grammar, what could stand there, line
and column, and the line itself with a caret below. The place is the deepest character that fits: after ``firstName
ilike`` it is the ``l``, since ``in`` and ``is`` begin like that.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken, v_args

from app.predicate.ast import And, Atom, Literal, Name, Nested, Not, Operand, Or, Parsed, Variable
from app.strict_json import INT64_MAX, INT64_MIN, HugeNumber, decode

LENGTH_AT_MOST = 16_384
"""Characters of a predicate."""

DEPTH_AT_MOST = 32
"""Parentheses around parentheses. It also bounds every recursion over the trees."""

TERMS_AT_MOST = 500
"""Terms of all predicates of a request: each comparison is one, and each value of a list."""

TOO_MANY_TERMS = (
    f"The predicates have more than {TERMS_AT_MOST} terms; each comparison is one, and each value of a list."
)

_CACHED_LENGTH = 2_048
"""Longer texts are not kept: they are rarely the same twice, and their trees are large."""


class InvalidPredicate(ValueError):
    """A predicate that is refused; ``str()`` of it says why and where."""


@dataclass(frozen=True, slots=True)
class Place:
    """A character of a text, by line and column, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"(line {self.line}, column {self.column})"


def place(text: str, position: int) -> Place:
    """The place of an offset."""
    return Place(text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))


def parse(text: str) -> Parsed:
    """Parse a predicate, or remember what it was parsed to.

    :raises InvalidPredicate: for a text that is too long, too deep or none.
    """
    return _remembered(text) if len(text) <= _CACHED_LENGTH else _parse(text)


def _parse(text: str) -> Parsed:
    if len(text) > LENGTH_AT_MOST:
        raise InvalidPredicate(f"The predicate has {len(text)} characters, {LENGTH_AT_MOST} are accepted.")
    _raise_if_too_large(text)
    try:
        return cast("Parsed", cast("object", _PARSER.parse(text)))
    except UnexpectedInput as error:
        raise InvalidPredicate(_syntax_error(text, error)) from None


_remembered = lru_cache(maxsize=512)(_parse)


_SIGN = re.compile(
    r'"(?:[^"\\]|\\.)*+"?|`[^`]*+`?|[(),]|[<>=!]+|(?<![a-z0-9_-])(?:and|or)(?![a-z0-9_-])', re.DOTALL | re.IGNORECASE
)
"""What tells depth and size apart from all else, and whatever may hold such a sign that is none.

Possessive, so that an open quote costs one look at the rest.
"""


def _raise_if_too_large(text: str) -> None:
    """Refuse what is too deep, or surely has too many terms, before the parser spends its time on it."""
    depth = commas = comparisons = joints = 0
    for match in _SIGN.finditer(text):
        match match.group():
            case "(":
                depth += 1
                if depth > DEPTH_AT_MOST:
                    where = place(text, match.start())
                    raise InvalidPredicate(f"The predicate is nested deeper than {DEPTH_AT_MOST} parentheses {where}.")
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
        raise InvalidPredicate(TOO_MANY_TERMS)


# Trees


def number_of(literal: str) -> int | float:
    """The number that a literal of JSON's form means: exact within int64, else the nearest double.

    A double that is a whole number within int64 becomes the integer that PostgreSQL reads from its shortest text, so
    that equal numbers have one form.
    """
    number = cast("int | float", decode(literal))
    if isinstance(number, int):
        if INT64_MIN <= number <= INT64_MAX:
            return number
        try:
            number = float(number)
        except OverflowError:
            return HugeNumber(literal)
    if number.is_integer() and abs(number) < INT64_MAX:
        return int(Decimal(repr(number)))
    return number


@v_args(inline=True)
class _TreeMaker(Transformer[Token, Any]):
    """Makes nodes while the parser runs: there is no other tree in between."""

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
        return Name(text, _position(token))

    def text(self, token: Token) -> Literal:
        return Literal(_ESCAPE.sub(r"\1", token.value[1:-1]), _position(token))

    def number(self, token: Token) -> Literal:
        return Literal(number_of(token.value), _position(token))

    def boolean(self, token: Token) -> Literal:
        return Literal(token.value.lower() == "true", _position(token))

    def variable(self, token: Token) -> Variable:
        return Variable(token.value[1:], _position(token))


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def _position(token: Token) -> int:
    return token.start_pos or 0


_PARSER = Lark(
    files("app.predicate").joinpath("grammar.lark").read_text("utf-8"),
    parser="lalr",
    lexer="contextual",
    transformer=_TreeMaker(),
    maybe_placeholders=False,
)


# Messages

_VALUES = {"STRING", "NUMBER", "TRUE", "FALSE"}

_KEYWORDS = {
    f"_{word.upper()}": word
    for word in (
        "and",
        "or",
        "not",
        "in",
        "contains",
        "any",
        "all",
        "is",
        "defined",
        "empty",
        "matches",
        "ignore",
        "case",
    )
}

_SIGNS = {"LPAR": ("(",), "RPAR": (")",), "COMMA": (",",), "COMPARISON": ("=", "!=", "<>", "<", ">", "<=", ">=")}


def _syntax_error(text: str, error: UnexpectedInput) -> str:
    position = error.pos_in_stream or 0
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        position = len(text)
    # A parser that has not seen the token at fault: on that token, the first one has closed what could go on.
    parser = _PARSER.parse_interactive(text[:position])
    parser.exhaust_lexer()
    position, expected = _deepest(text, position, parser.accepts())
    found = "Unexpected end of input" if position >= len(text) else f"Invalid input '{_printable(text[position])}'"
    where = place(text, position)
    line = text.split("\n")[where.line - 1]
    below = re.sub(r"[^\t]", " ", line[: where.column - 1]) + "^"
    return f"Syntax error while parsing 'where'. {found}, expected {_listed(expected)} {where}:\n{line}\n{below}"


def _deepest(text: str, position: int, accepted: set[str]) -> tuple[int, list[str]]:
    """The deepest character that fits the beginning of something accepted, and what could stand there."""
    start = text[position : position + 1]
    if start == '"' and "STRING" in accepted:
        return _in_string(text, position + 1)
    if start == "`" and "QUOTED_NAME" in accepted:
        return (len(text), ["'`'"]) if "`" not in text[position + 1 :] else (position + 1, ["field name"])
    if start == ":" and "VARIABLE" in accepted:
        return position + 1, ["letter", "digit"]
    if start == "-" and "NUMBER" in accepted:
        return position + 1, ["digit"]
    words = [word for terminal, word in _KEYWORDS.items() if terminal in accepted]
    words += [sign for terminal, signs in _SIGNS.items() if terminal in accepted for sign in signs]
    rest = text[position : position + 20].lower()
    depth, begun = 0, words
    for length in range(1, len(rest) + 1):
        longer = [word for word in begun if word.startswith(rest[:length])]
        if not longer:
            break
        depth, begun = length, longer
    if depth == 0:
        return position, _names_of(accepted, words)
    following = [f"'{word[depth]}'" for word in begun if len(word) > depth]
    if any(len(word) == depth for word in begun):
        following.append("whitespace")
    return position + depth, list(dict.fromkeys(following))


def _in_string(text: str, position: int) -> tuple[int, list[str]]:
    match = re.compile(r'[^"\\]*(?:\\["\\][^"\\]*)*').match(text, position)
    end = match.end() if match else position
    if text[end : end + 1] == "\\":
        return end + 1, ["'\"'", "'\\'"]
    return end, ["'\"'"]


def _names_of(accepted: set[str], words: list[str]) -> list[str]:
    named = [
        ("NAME" in accepted, "field name"),
        ("VARIABLE" in accepted, "input parameter"),
        (bool(accepted & _VALUES), "primitive value"),
        ("$END" in accepted, "end of input"),
    ]
    return [name for there, name in named if there] + [f"'{word}'" for word in words]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _printable(character: str) -> str:
    return character if character.isprintable() else f"U+{ord(character):04X}"
