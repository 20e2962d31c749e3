"""What the languages of parameters share: text to tree by a grammar, and the message for a text that is none.

A message has the platform's form: what stands where the text departs from the grammar, what could stand there, line
and column, and the line itself with a caret below. The place is the deepest character that fits: after ``firstName
ilike`` it is the ``l``, since ``in`` and ``is`` begin like that.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken

from app.values.strict_json import INT64_MAX, INT64_MIN, HugeNumber, decode

LENGTH_AT_MOST = 16_384
"""Characters of an expression."""

FAULTS_AT_MOST = 50
"""Faults of the expressions of one parameter that an answer lists."""

_CACHED_LENGTH = 2_048
"""Longer texts are not kept: they are rarely the same twice, and their trees are large."""


class InvalidExpression(ValueError):
    """A text that is refused; ``str()`` of it says why and where."""


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


# What tokens mean


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


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def text_of(literal: str) -> str:
    """The text that a literal in double quotes means."""
    return _ESCAPE.sub(r"\1", literal[1:-1])


def position_of(token: Token) -> int:
    """Where a token begins: an offset into its text, counted from 0."""
    return token.start_pos or 0


# Parsing

_VALUES = frozenset(("STRING", "NUMBER", "TRUE", "FALSE"))

_NAMES = (
    (frozenset(("NAME", "PATH")), "field name"),
    (frozenset(("ALIAS",)), "alias"),
    (frozenset(("VARIABLE",)), "input parameter"),
    (_VALUES, "primitive value"),
    (frozenset(("$END",)), "end of input"),
)
"""Terminals that messages call by a name of their own."""


class Language:
    """A grammar with its messages.

    :param package: where ``grammar.lark`` lies.
    :param name: what messages call a text of the language.
    :param maker: makes nodes while the parser runs: there is no other tree in between.
    :param keywords: words whose terminals are called like them, in capitals after an underscore; in the order in
        which messages list them.
    :param signs: what other terminals look like.
    :param starts: the rules that a text can be.
    :param check: refuses texts before the parser spends its time on them.
    """

    def __init__(
        self,
        package: str,
        name: str,
        maker: Transformer[Token, Any],
        keywords: Sequence[str],
        signs: Mapping[str, tuple[str, ...]],
        starts: Sequence[str] = ("start",),
        check: Callable[[str], None] | None = None,
    ) -> None:
        self._name = name
        self._check = check
        self._spelt = {f"_{word.upper()}": (word,) for word in keywords} | dict(signs)
        self._lark = Lark(
            files(package).joinpath("grammar.lark").read_text("utf-8"),
            parser="lalr",
            lexer="contextual",
            start=list(starts),
            transformer=maker,
            maybe_placeholders=False,
        )
        self._remembered = lru_cache(maxsize=512)(self._parse)

    def parse(self, text: str, start: str = "start", *, quoted: str | None = None) -> Any:
        """Parse a text, or remember what it was parsed to.

        :param quoted: how messages call the text; by default, they quote it.
        :raises InvalidExpression: for a text that is too long or none.
        """
        if len(text) > _CACHED_LENGTH:
            return self._parse(text, start, quoted)
        return self._remembered(text, start, quoted)

    def _parse(self, text: str, start: str, quoted: str | None) -> Any:
        if len(text) > LENGTH_AT_MOST:
            raise InvalidExpression(f"The {self._name} has {len(text)} characters, {LENGTH_AT_MOST} are accepted.")
        if self._check is not None:
            self._check(text)
        try:
            return self._lark.parse(text, start)
        except UnexpectedInput as error:
            raise InvalidExpression(self._message(text, start, quoted, error)) from None

    # Messages

    def _message(self, text: str, start: str, quoted: str | None, error: UnexpectedInput) -> str:
        position = error.pos_in_stream or 0
        if isinstance(error, UnexpectedToken) and error.token.type == "$END":
            position = len(text)
        # A parser that has not seen the token at fault: on that token, the first one has closed what could go on.
        parser = self._lark.parse_interactive(text[:position], start)
        parser.exhaust_lexer()
        position, expected = self._deepest(text, position, parser.accepts())
        found = "Unexpected end of input" if position >= len(text) else f"Invalid input '{_printable(text[position])}'"
        where = place(text, position)
        line = text.split("\n")[where.line - 1]
        below = re.sub(r"[^\t]", " ", line[: where.column - 1]) + "^"
        called = text if quoted is None else quoted
        return f"Syntax error while parsing '{called}'. {found}, expected {_listed(expected)} {where}:\n{line}\n{below}"

    def _deepest(self, text: str, position: int, accepted: set[str]) -> tuple[int, list[str]]:
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
        words = [word for terminal, spelt in self._spelt.items() if terminal in accepted for word in spelt]
        rest = text[position : position + 20].lower()
        depth, begun = 0, words
        for length in range(1, len(rest) + 1):
            longer = [word for word in begun if word.startswith(rest[:length])]
            if not longer:
                break
            depth, begun = length, longer
        if depth == 0:
            return position, _names_of(accepted) + [f"'{word}'" for word in words]
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


def _names_of(accepted: set[str]) -> list[str]:
    return [name for terminals, name in _NAMES if terminals & accepted]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _printable(character: str) -> str:
    return character if character.isprintable() else f"U+{ord(character):04X}"
