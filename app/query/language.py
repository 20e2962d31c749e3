"""Parses the languages of parameters by their grammars, and makes the messages for syntax errors.

A message has the platform's form: the unexpected character, the expected ones, line and column, and the line with a
caret below. The unexpected character is the first that no accepted keyword or sign has at this position: in
``firstName ilike`` it is the ``l``, because ``in`` and ``is`` begin with an ``i``. ``true`` and ``false`` count as
values: there the unexpected character is the word's first.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, TypeVar, cast

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken, v_args
from lark.parsers.lalr_interactive_parser import InteractiveParser
from marshmallow import ValidationError

from app import errors
from app.errors import FAULTS_AT_MOST
from app.values import strict_json
from app.values.json_fields import check_number
from app.values.parameters import read_text

TERMS_AT_MOST = 500
"""The most terms of all texts that are read together, because they become one SQL statement. The time of parsing is
limited by the length of a request, and not by this."""

DEPTH_AT_MOST = 32
"""The most levels of nested parentheses. It also limits every recursion over the trees."""

_CACHED_LENGTH = 2_048
"""The most characters of a text whose tree is cached. Longer texts are rarely sent again, and their trees are large."""


@dataclass(slots=True)
class Faults:
    """Collects the faults of all expressions of one parameter, up to the number that an answer lists, and counts the
    terms of the expressions.

    :param too_many: the fault of more than :data:`TERMS_AT_MOST` terms.
    """

    too_many: str
    reasons: list[str | errors.Fault] = field(default_factory=list[str | errors.Fault])
    terms: int = 0

    def add(self, reason: str | errors.Fault) -> None:
        """Add a fault: a message, or a ``Fault`` if the reason has its own error code.

        :raises ValidationError: with the faults so far, if they are as many as an answer lists.
        """
        self.reasons.append(reason)
        if len(self.reasons) >= FAULTS_AT_MOST:
            self.raise_if_any()

    def count_terms(self, terms: int) -> None:
        """Add the number of terms of one condition or facet to the total of the whole parameter.

        :param terms: how many values and ranges the condition or facet has; 1 for a condition without any.
        :raises ValidationError: with all faults so far, if the total exceeds :data:`TERMS_AT_MOST`.
        """
        self.terms += terms
        if self.terms > TERMS_AT_MOST:
            self.add(self.too_many)
            self.raise_if_any()

    def raise_if_any(self) -> None:
        """Refuse the expressions if a fault has been added.

        :raises ValidationError: with all faults.
        """
        if self.reasons:
            raise ValidationError(cast(Any, self.reasons))


Parsed = TypeVar("Parsed")


def trees_of(texts: Sequence[str], parse: Callable[[str], Parsed], faults: Faults) -> Generator[tuple[str, Parsed]]:
    """Parse texts, and yield each valid one with its tree. The fault of an invalid one is added to ``faults``.

    :raises ValidationError: as :meth:`Faults.add` does.
    """
    for text in texts:
        try:
            tree = parse(read_text(text))  # which refuses an empty text, and one that PostgreSQL cannot store
        except ValidationError as error:
            faults.add(str(error))
        else:
            yield text, tree


def place(text: str, position: int) -> str:
    """The line and column of the character at an offset, both counted from 1, for a message."""
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return f"(line {line}, column {column})"


# The values of tokens


def compared_number(literal: str) -> int | float:
    """The number that a JSON literal stands for in a comparison. The first case that applies decides:

    - A zero, also with a minus sign, becomes the int 0.
    - A whole number within int64 becomes exactly this int: 3.0 becomes 3.
    - A number beyond all doubles becomes a HugeNumber.
    - Any other number becomes the nearest double. If the double is whole and within int64, it becomes an int, too:
      1234567890123456800.5 becomes 1234567890123456768.
    """
    number = strict_json.number_of(literal)
    # A HugeNumber is not checked, because check_number would refuse it. "or 0" replaces -0.0 by 0: the result of a
    # facet repeats the bounds of its ranges, and would show the minus sign.
    return number if isinstance(number, strict_json.HugeNumber) else check_number(number) or 0


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

_BEGINNING_OF_STRING = re.compile(r'[^"\\]*(?:\\["\\][^"\\]*)*')
"""The text of a string up to its end, or up to an unknown escape."""


def text_of(literal: str) -> str:
    """The text of a string literal. The double quotes around it are removed, and so is the backslash of each escape.
    The lexer accepts only two escapes: of a double quote, and of a backslash."""
    return _ESCAPE.sub(r"\1", literal[1:-1])


def position_of(token: Token) -> int:
    """The offset of a token's first character, counted from 0."""
    return token.start_pos or 0  # None only by its type: every token of the lexer has one


# Parsing

_DEEPER: Mapping[str, int] = {"LPAR": 1, "RPAR": -1}
"""Terminals that open or close a level of parentheses. Only predicates have more than one level."""


def _feed(parser: InteractiveParser, token: Token) -> Any:
    """Feed a token to the parser, and return the parser's result. If the parser refuses the token, restore its stack of
    states.

    Lark's parser may reduce before it refuses a token, and each reduction changes the stack. :meth:`Language._parse`
    then calls ``parser.accepts()``, because the message for the client lists the terminals that could stand in place of
    the refused token. With the changed stack, ``accepts()`` would miss some of them. The parser's stack of values is
    not restored, because ``accepts()`` ignores the values.
    """
    states = parser.parser_state.state_stack
    before = states.copy()
    try:
        return parser.feed_token(token)
    except UnexpectedToken:
        states[:] = before
        raise


_NAMES = (
    (frozenset(("NAME", "PATH")), "field name"),
    (frozenset(("ALIAS",)), "alias"),
    (frozenset(("VARIABLE",)), "input parameter"),
    (frozenset(("STRING", "NUMBER", "TRUE", "FALSE")), "primitive value"),
    (frozenset(("$END",)), "end of input"),
)
"""Terminals and their names in messages."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a number or a boolean that an expression contains.

    :param position: the offset of its first character, which comparisons ignore.
    """

    value: str | int | float | bool
    position: int = field(compare=False)


class TreeMaker(Transformer[Token, Any]):
    """Makes the nodes of a tree, by a method for each rule or named alternative of the grammar.

    A subclass may have ``__default__`` for those without a method.
    """

    @v_args(inline=True)
    def text(self, token: Token) -> Literal:
        """A text literal."""
        return Literal(text_of(token.value), position_of(token))

    @v_args(inline=True)
    def number(self, token: Token) -> Literal:
        """A number literal."""
        return Literal(compared_number(token.value), position_of(token))

    @v_args(inline=True)
    def boolean(self, token: Token) -> Literal:
        """``true`` or ``false``."""
        return Literal(token.value.lower() == "true", position_of(token))


_KEYWORD = re.compile(r"^_([A-Z]+)\.2: ", re.MULTILINE)
"""The definition of a keyword's terminal in a grammar: its name is an underscore and the keyword in capitals, and its
priority is 2. TRUE and FALSE have no underscore: to a client they are values."""

_SIGNS: Mapping[str, tuple[str, ...]] = {
    "COLON": (":",),
    "LPAR": ("(",),
    "RPAR": (")",),
    "COMMA": (",",),
    "STAR": ("*",),
    "COMPARISON": ("=", "!=", "<>", "<", ">", "<=", ">="),
}
"""The spellings of the signs. Messages list keywords before them, and then these in this order."""


class Language:
    """A language with its parser and its messages for syntax errors.

    :param package: the package that contains ``grammar.lark``.
    :param maker: makes the nodes during parsing, so that Lark does not build its own tree.
    :param starts: the rules with which parsing of a text can start.
    :param called: the name of a text in messages; None: messages quote the text.
    """

    def __init__(
        self, package: str, maker: TreeMaker, starts: Sequence[str] = ("start",), called: str | None = None
    ) -> None:
        self._called = called
        self._package = package
        self._maker = maker
        self._starts = list(starts)
        self._cached = lru_cache(maxsize=512)(self._parse)

    @cached_property
    def _grammar(self) -> str:
        """The text of the grammar."""
        return files(self._package).joinpath("grammar.lark").read_text("utf-8")

    @cached_property
    def _spellings(self) -> Mapping[str, tuple[str, ...]]:
        """How a client writes each keyword and sign, by its terminal: first the keywords, then the signs. Messages that
        list what is expected keep this order."""
        return {f"_{name}": (name.lower(),) for name in _KEYWORD.findall(self._grammar)} | dict(_SIGNS)

    @cached_property
    def _lark(self) -> Lark:
        """The parser. It is made when the first text is parsed. Making the parsers of both languages (one of
        predicates, one of filters and facets) at the start of each process took 40 ms of processor time."""
        # Keywords ignore case. Without re.ASCII, İ (a capital I with a dot) would match the i of a keyword.
        return Lark(self._grammar, parser="lalr", start=self._starts, transformer=self._maker, g_regex_flags=re.ASCII)

    def parse(self, text: str, start: str = "start") -> Any:
        """Parse a text. The trees of texts of at most 2,048 characters are cached. Parsing a longer text takes at most
        5 µs per character; the limits in :mod:`app.http.bodies` rely on this.

        :raises ValidationError: for a text that is no expression of the language, or whose parentheses are nested too
            deep.
        """
        if len(text) > _CACHED_LENGTH:
            return self._parse(text, start)
        return self._cached(text, start)

    def _parse(self, text: str, start: str) -> Any:
        """Parse a text. The tokens are fed to the parser one by one, for two reasons:

        - A parenthesis that exceeds :data:`DEPTH_AT_MOST` is refused before the parser gets it.
        - The message about a refused token lists the terminals that the parser would have accepted instead. The parser
          can tell them, because :func:`_feed` restores its states from before the token.
        """
        parser = self._lark.parse_interactive(text, start)
        depth = 0
        try:
            for token in parser.lexer_thread.lex(parser.parser_state):
                depth += _DEEPER.get(token.type, 0)
                if depth > DEPTH_AT_MOST:  # only in a predicate: other grammars do not nest parentheses
                    where = place(text, position_of(token))
                    raise ValidationError(f"The predicate is nested deeper than {DEPTH_AT_MOST} parentheses {where}.")
                _feed(parser, token)
            return _feed(parser, Token("$END", ""))
        except UnexpectedInput as error:
            raise ValidationError(self._message(text, error, parser.accepts())) from None

    # Messages

    def _message(self, text: str, error: UnexpectedInput, accepted: set[str]) -> str:
        """The message for a text that the lexer or the parser has refused.

        :param accepted: the terminals that the parser would have accepted in place of the refused token.
        """
        is_at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        position = len(text) if is_at_end else error.pos_in_stream or 0  # or 0: only for the type checker
        position, expected = self._first_unexpected(text, position, accepted)
        found = "Unexpected end of input" if position >= len(text) else f"Invalid input '{_printable(text[position])}'"
        where = place(text, position)
        called = self._called or errors.shortened(text)
        shown = _shown(text, position)
        return f"Syntax error while parsing '{called}'. {found}, expected {_listed(expected)} {where}:\n{shown}"

    def _first_unexpected(self, text: str, position: int, accepted: set[str]) -> tuple[int, list[str]]:
        """The position of the first unexpected character, and what is expected there, for the message.

        The text from the refused token on is compared, character by character, with the accepted keywords and signs.
        The first unexpected character is the one after the longest beginning that the text shares with any of them:

        - ``ilike``, where ``in`` and ``is`` are accepted: ``i`` is shared, so ``l`` is unexpected; ``n`` or ``s`` is
          expected.
        - ``andx``, where ``and`` is accepted: the whole keyword is shared, so ``x`` is unexpected; whitespace is
          expected.
        - Nothing is shared: the first character is unexpected; everything that is accepted there is expected, also
          names and values.

        In an incomplete literal, quoted name or variable, the unexpected character is the first that cannot continue
        it. If the text ends too early, the position is the end of the text.

        :param position: the beginning of the refused token.
        :param accepted: the terminals that can continue the text before this position.
        """
        # A string, a name in backticks, a variable or a number may be accepted here. The parser would then have taken a
        # complete one. So if the refused token begins like one of these, it is incomplete.
        start = text[position : position + 1]
        if start == '"' and "STRING" in accepted:
            return _in_string(text, position + 1)
        if start == "`" and "QUOTED_NAME" in accepted:
            # If the text ends after this backtick, or a second backtick follows at once, the name is missing. Otherwise
            # the closing backtick is missing. It is expected at the end of the text, because a name in backticks may
            # contain every other character.
            return (position + 1, ["field name"]) if text[position + 1 :][:1] in ("", "`") else (len(text), ["'`'"])
        if start == ":" and "VARIABLE" in accepted:
            return position + 1, ["letter", "digit"]
        if start == "-" and "NUMBER" in accepted:
            return position + 1, ["digit"]
        # The spellings of the accepted keywords and signs. true and false are not among them: messages list them as
        # "primitive value" (_NAMES).
        words = [word for terminal, spelt in self._spellings.items() if terminal in accepted for word in spelt]
        # 20 characters are more than any word has. Only A to Z are lowered: no word has another letter, and lower()
        # makes two characters of some, such as İ, which would shift the position.
        rest = re.sub("[A-Z]+", lambda found: found[0].lower(), text[position : position + 20])
        # matched: how many first characters of the rest are also the beginning of a word. begun: the words that begin
        # with these characters. In "ilike" 1 character is matched, "i"; begun has "in" and "is".
        matched = max((n for n in range(len(rest) + 1) if any(word.startswith(rest[:n]) for word in words)), default=0)
        begun = [word for word in words if word.startswith(rest[:matched])]
        if matched == 0:  # no keyword or sign has begun: all that is accepted, names too
            names = [name for terminals, name in _NAMES if terminals & accepted]
            return position, names + [f"'{word}'" for word in words]
        following = [f"'{word[matched]}'" for word in begun if len(word) > matched]
        if any(len(word) == matched for word in begun):
            following.append("whitespace")
        return position + matched, list(dict.fromkeys(following))


_SHOWN = 100
"""The most characters of a line that a message shows on either side of a fault."""


def _shown(text: str, position: int) -> str:
    """The line of ``position``, and below it a line with a caret, for the message of a syntax error. Of a long line
    only a part is shown: :data:`_SHOWN` characters before ``position``, and :data:`_SHOWN` characters from ``position``
    on.

    Before the caret, each character of the shown line becomes a space, but a tab stays a tab. So the caret stands below
    ``position``, unless a character before it is wider or narrower than one cell of the terminal.
    """
    begin, end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
    before, after = text[begin:position], text[position : None if end < 0 else end]
    if len(before) > _SHOWN:
        before = f"...{before[-_SHOWN:]}"
    if len(after) > _SHOWN:
        after = f"{after[:_SHOWN]}..."
    blank = re.sub(r"[^\t]", " ", before)
    return f"{before}{after}\n{blank}^"


def _in_string(text: str, position: int) -> tuple[int, list[str]]:
    """The position of the fault in a string that the lexer has refused, and what is expected there. After the backslash
    of an unknown escape, a double quote or a backslash is expected; at the end of the text, the closing quote.

    :param position: the position after the opening quote.
    """
    match = _BEGINNING_OF_STRING.match(text, position)
    end = position if match is None else match.end()  # match is never None: the pattern matches an empty text, too
    if text[end : end + 1] == "\\":
        return end + 1, ["'\"'", "'\\'"]
    return end, ["'\"'"]


def _listed(names: list[str]) -> str:
    """Names in a sentence: ``a, b or c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _printable(character: str) -> str:
    """A character for a message; one that cannot be printed, by its code point."""
    return character if character.isprintable() else f"U+{ord(character):04X}"
