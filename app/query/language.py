"""Shared by the languages of parameters: parsing by a grammar, and the messages for syntax errors.

A message has the platform's form: the character at which the text departs from the grammar, what is expected there,
line and column, and the line itself with a caret below. No expected word has this character in its place: in
``firstName ilike`` it is the ``l``, because ``in`` and ``is`` begin with an ``i``.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, TypeVar, cast

from lark import Lark, Token, Transformer, Tree, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from app import errors
from app.errors import FAULTS_AT_MOST
from app.values.strict_json import INT64_MAX, INT64_MIN, HugeNumber, decode

TERMS_AT_MOST = 500
"""Terms of all texts that are read together: what a statement can have. Parsing is bounded by the characters of a
request."""

DEPTH_AT_MOST = 32
"""Nested parentheses. It also bounds every recursion over the trees."""

_CACHED_LENGTH = 2_048
"""Characters of a text whose tree is cached: longer ones rarely repeat, and their trees are large."""


class InvalidExpression(ValueError):
    """A text that is not an expression of its language; ``str()`` of it is the message."""


Reason = str | errors.Fault
"""Why an expression is invalid; a ``Fault`` has an error code of its own."""


class InvalidExpressions(ValueError):
    """Expressions of one parameter that are invalid, with a reason for each fault."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__("; ".join(map(str, reasons)))
        self.reasons = tuple(reasons)


@dataclass(slots=True)
class Faults:
    """The faults of all expressions of one parameter; those beyond :data:`FAULTS_AT_MOST` are dropped."""

    reasons: list[Reason] = field(default_factory=list[Reason])

    @property
    def are_enough(self) -> bool:
        """Whether a further one would be dropped."""
        return len(self.reasons) >= FAULTS_AT_MOST

    def add(self, reason: Reason) -> None:
        """Note a fault."""
        if not self.are_enough:
            self.reasons.append(reason)

    def raise_if_any(self) -> None:
        """Refuse the expressions.

        :raises InvalidExpressions: with all faults.
        """
        if self.reasons:
            raise InvalidExpressions(self.reasons)


Parsed = TypeVar("Parsed")


def trees_of(
    texts: Sequence[str],
    parse: Callable[[str], Parsed],
    terms_of: Callable[[Parsed], int],
    too_many: str,
    faults: Faults,
) -> Generator[tuple[str, Parsed]]:
    """Each text that is an expression, with its tree, until all have too many terms or there are enough faults.

    :param terms_of: counts the terms of a tree.
    :param too_many: the fault if the texts have more than :data:`TERMS_AT_MOST` terms together.
    """
    terms = 0
    for text in texts:
        if faults.are_enough:
            return
        try:
            tree = parse(text)
        except InvalidExpression as error:
            faults.add(str(error))
            continue
        terms += terms_of(tree)
        if terms > TERMS_AT_MOST:
            faults.add(too_many)
            return
        yield text, tree


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a character: line and column, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"(line {self.line}, column {self.column})"


def place(text: str, position: int) -> Place:
    """The place of the character at an offset."""
    return Place(text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))


# The values of tokens


def number_of(literal: str) -> int | float:
    """The number of a JSON literal: an exact int within int64, else the nearest double.

    A double that is a whole number within int64 becomes the integer that PostgreSQL reads from the double's shortest
    text, so that equal numbers have one form.
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
    """The text of a literal in double quotes, without its escapes."""
    return _ESCAPE.sub(r"\1", literal[1:-1])


def position_of(token: Token) -> int:
    """The offset of a token's first character, counted from 0."""
    return token.start_pos or 0


# Parsing

_DEEPER: Mapping[str, int] = {"LPAR": 1, "RPAR": -1}
"""Terminals that open or close a level of parentheses. Only predicates have more than one level."""


def _feed(parser: InteractiveParser, token: Token) -> Any:
    """What the parser makes of a token.

    If it is unexpected, the parser's states are as before. It may have reduced on the token, and then would no longer
    accept everything that could continue the text; a second parser that stops there would take as long as the first.
    """
    states = parser.parser_state.state_stack
    before = states.copy()
    try:
        return parser.feed_token(token)
    except UnexpectedToken:
        states[:] = before
        raise


_VALUES = frozenset(("STRING", "NUMBER", "TRUE", "FALSE"))

_NAMES = (
    (frozenset(("NAME", "PATH")), "field name"),
    (frozenset(("ALIAS",)), "alias"),
    (frozenset(("VARIABLE",)), "input parameter"),
    (_VALUES, "primitive value"),
    (frozenset(("$END",)), "end of input"),
)
"""Terminals and their names in messages."""


class TreeMaker(Transformer[Token, Any]):
    """Makes the nodes of a tree: a method for each rule of the grammar, or for each alternative that has a name."""

    def __default__(self, data: str, children: list[Any], meta: Any) -> Any:
        """What Lark makes of a rule without a method: of an inlined one, a tree that the rule around it takes apart.

        :raises LookupError: for any other. Its tree would get into the predicate, where nothing knows its meaning.
        """
        if not data.startswith("_"):
            raise LookupError(f"{type(self).__qualname__} has no method for the rule '{data}' of its grammar.")
        return Tree(data, children, meta)


_KEYWORD = re.compile(r"^_([A-Z]+)\.2: ", re.MULTILINE)
"""The terminal of a keyword in a grammar. Its name is the word in capitals, after an underscore."""


class Language:
    """A grammar with its messages.

    :param package: contains ``grammar.lark``.
    :param maker: makes the nodes while the parser runs, so that Lark builds no tree of its own.
    :param signs: the spellings of terminals that are no keywords. Messages list keywords first, in the grammar's order.
    :param starts: the rules that a text can start with.
    """

    def __init__(
        self,
        package: str,
        maker: TreeMaker,
        signs: Mapping[str, tuple[str, ...]],
        starts: Sequence[str] = ("start",),
    ) -> None:
        self._signs = signs
        self._package = package
        self._maker = maker
        self._starts = list(starts)
        self._cached = lru_cache(maxsize=512)(self._parse)

    @cached_property
    def _grammar(self) -> str:
        return files(self._package).joinpath("grammar.lark").read_text("utf-8")

    @cached_property
    def _spellings(self) -> Mapping[str, tuple[str, ...]]:
        return {f"_{name}": (name.lower(),) for name in _KEYWORD.findall(self._grammar)} | dict(self._signs)

    @cached_property
    def _lark(self) -> Lark:
        """The parser, made for the first text: making both parsers took a tenth of the time to load the service."""
        return Lark(
            self._grammar,
            parser="lalr",
            lexer="contextual",
            start=self._starts,
            transformer=self._maker,
            maybe_placeholders=False,
        )

    def parse(self, text: str, start: str = "start", *, quoted: str | None = None) -> Any:
        """Parse a text; the trees of short texts are cached. A character takes 5 µs at most.

        :param quoted: names the text in messages, which otherwise quote it.
        :raises InvalidExpression: for a text that is no expression of the language, or that is nested too deep.
        """
        if len(text) > _CACHED_LENGTH:
            return self._parse(text, start, quoted)
        return self._cached(text, start, quoted)

    def _parse(self, text: str, start: str, quoted: str | None) -> Any:
        parser = self._lark.parse_interactive(text, start)
        depth = 0
        try:
            for token in parser.lexer_thread.lex(parser.parser_state):
                depth += _DEEPER.get(token.type, 0)
                if depth > DEPTH_AT_MOST:
                    where = place(text, position_of(token))
                    raise InvalidExpression(f"The predicate is nested deeper than {DEPTH_AT_MOST} parentheses {where}.")
                _feed(parser, token)
            return _feed(parser, Token("$END", ""))
        except UnexpectedInput as error:
            raise InvalidExpression(self._message(text, quoted, error, parser.accepts())) from None

    # Messages

    def _message(self, text: str, quoted: str | None, error: UnexpectedInput, accepted: set[str]) -> str:
        position = error.pos_in_stream or 0
        if isinstance(error, UnexpectedToken) and error.token.type == "$END":
            position = len(text)
        position, expected = self._deepest(text, position, accepted)
        found = "Unexpected end of input" if position >= len(text) else f"Invalid input '{_printable(text[position])}'"
        where = place(text, position)
        called = errors.shortened(text) if quoted is None else quoted
        shown = _shown(text, position)
        return f"Syntax error while parsing '{called}'. {found}, expected {_listed(expected)} {where}:\n{shown}"

    def _deepest(self, text: str, position: int, accepted: set[str]) -> tuple[int, list[str]]:
        """The first character that no accepted word has in this place, and the words that are accepted instead."""
        start = text[position : position + 1]
        if start == '"' and "STRING" in accepted:
            return _in_string(text, position + 1)
        if start == "`" and "QUOTED_NAME" in accepted:
            return (len(text), ["'`'"]) if "`" not in text[position + 1 :] else (position + 1, ["field name"])
        if start == ":" and "VARIABLE" in accepted:
            return position + 1, ["letter", "digit"]
        if start == "-" and "NUMBER" in accepted:
            return position + 1, ["digit"]
        words = [word for terminal, spelt in self._spellings.items() if terminal in accepted for word in spelt]
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


_SHOWN = 100
"""Characters of a line that a message shows on either side of the place of a fault."""


def _shown(text: str, position: int) -> str:
    """The line of a character, or what surrounds the character in a long line, and a caret below it."""
    begin, end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
    before, after = text[begin:position], text[position : None if end < 0 else end]
    if len(before) > _SHOWN:
        before = f"...{before[-_SHOWN:]}"
    if len(after) > _SHOWN:
        after = f"{after[:_SHOWN]}..."
    blank = re.sub(r"[^\t]", " ", before)
    return f"{before}{after}\n{blank}^"


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
