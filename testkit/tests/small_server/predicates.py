"""The query language of ``where``: a parser, and conditions that are functions of a document."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .fields import FIELDS, Field
from .refusals import Entry, Refused, bad_parameter
from .values import Beyond, milliseconds, number_of, suggestion

Document = dict[str, Any]

Condition = Callable[[Document], bool]

MOST_LEVELS, MOST_CHARACTERS, MOST_TERMS = 32, 16_384, 500

TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"\\]|\\["\\])*")
  | (?P<number>-?[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?)
  | (?P<quoted>`[^`]+`)
  | (?P<variable>:[a-zA-Z0-9]+)
  | (?P<word>[A-Za-z_][A-Za-z0-9_-]*)
  | (?P<sign><>|!=|<=|>=|[=<>(),])
    )""",
    re.VERBOSE,
)

KEYWORDS = {"and", "or", "not", "in", "is", "contains", "matches", "defined", "empty", "any", "all", "true", "false"}


OPERATORS = ("in", "is", "not", "contains", "matches", "within")

UNKNOWN = Field("unknown")
"""Stands for a field that does not exist, so that the rest of its predicate is looked at too."""


def fitting(word: str, known: tuple[str, ...]) -> int:
    """How many characters of a word fit to one of the known ones."""
    return max(length for length in range(len(word) + 1) if any(each.startswith(word[:length]) for each in known))


class Syntax(Exception):
    """A text that is no predicate; ``position`` is that of the first character that does not fit."""

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(expected)
        self.position = position
        self.expected = expected


class Fault(Exception):
    """A predicate that says something that its field does not have."""


@dataclass(frozen=True)
class Literal:
    """A value as it stands in a predicate; of a variable, its texts."""

    kind: str
    value: Any
    position: int


def describe(text: str, position: int, expected: str) -> str:
    """A syntax error for a reader: what was found, the place, and a caret below it."""
    found = f"Invalid input '{text[position]}'" if position < len(text) else "Unexpected end of input"
    line = text.count("\n", 0, position) + 1
    start = text.rfind("\n", 0, position) + 1
    column = position - start + 1
    lines = text.split("\n")
    pointed = "\n".join([*lines[:line], " " * (column - 1) + "^", *lines[line:]])
    return f"{found}, expected {expected} (line {line}, column {column}):\n{pointed}"


class Tokens:
    """A text in pieces."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> tuple[str, str, int]:
        """Kind, text and position of the next piece; kind ``end`` after the last one.

        :raises Syntax: if no piece begins there.
        """
        found = TOKEN.match(self.text, self.at)
        if found is not None:
            kind = found.lastgroup or ""
            return kind, found[kind], found.start(kind)
        blank = len(self.text) - len(self.text[self.at :].lstrip())
        if blank == len(self.text):
            return "end", "", blank
        raise Syntax(blank, "a field, an operator or a value")

    def next(self) -> tuple[str, str, int]:
        """Take the next piece."""
        kind, piece, position = self.peek()
        self.at = position + len(piece)
        return kind, piece, position

    def takes(self, *words: str) -> bool:
        """Take these words or signs, if they come next."""
        before = self.at
        for word in words:
            kind, piece, _ = self.peek()
            if kind not in ("word", "sign") or piece.lower() != word:
                self.at = before
                return False
            self.next()
        return True

    def need(self, *words: str) -> None:
        """Take these words or signs.

        :raises Syntax: if something else comes.
        """
        for word in words:
            position = self.peek()[2]
            if not self.takes(word):
                raise Syntax(position, f"'{word}'")


class Predicates:
    """What predicates mean. One instance serves all requests."""

    def compile(self, texts: list[str], variables: dict[str, list[str]]) -> Condition:
        """A condition for all predicates together.

        :raises Refused: with an entry for each that is wrong.
        """
        faults: list[Entry] = []
        conditions: list[Condition] = []
        parsers: list[_Parser] = []
        for text in texts:
            parser = _Parser(self, Tokens(text), variables)
            parsers.append(parser)
            try:
                if len(text) > MOST_CHARACTERS:
                    raise Fault(f"A predicate may have {MOST_CHARACTERS} characters.")
                conditions.append(parser.whole())
                faults += [bad_parameter("where", fault) for fault in parser.faults]
            except Syntax as error:
                told = describe(text, error.position, error.expected)
                faults.append(bad_parameter("where", f"Syntax error while parsing 'where'. {told}"))
            except Fault as error:
                faults.append(bad_parameter("where", str(error)))
        if sum(parser.terms for parser in parsers) > MOST_TERMS:
            faults.append(bad_parameter("where", f"Predicates may have {MOST_TERMS} terms."))
        if faults:
            raise Refused(400, *faults)
        return lambda document: all(condition(document) for condition in conditions)

    # Operators; a value is None if the field is absent, and a list for arrays.

    def equals(self, value: Any, wanted: list[Any]) -> bool:
        """``=`` and ``in``."""
        if not isinstance(value, list):
            return value in wanted
        return any(item == each for item in self.items(value) for each in wanted)

    def compares(self, operator: str, value: Any, wanted: Any) -> bool:
        """``<``, ``<=``, ``>`` and ``>=``."""
        return any(self.less(operator, item, wanted) for item in self.items(value))

    def less(self, operator: str, item: Any, wanted: Any) -> bool:
        """Compare two values."""
        return {"<": item < wanted, "<=": item <= wanted, ">": item > wanted, ">=": item >= wanted}[operator]

    def contains(self, value: Any, wanted: list[Any], *, every: bool) -> bool:
        """``contains any`` and ``contains all``."""
        if value is None:
            return False
        held = [each in value for each in wanted]
        return all(held) if every else any(held)

    def is_empty(self, value: Any) -> bool:
        """``is empty``."""
        return not value

    def ignoring_case(self, value: Any, wanted: str) -> bool:
        """``matches ignore case``."""
        return any(item.lower() == wanted.lower() for item in self.items(value))

    def nested(self, value: Any, condition: Condition) -> bool:
        """A condition in parentheses after the name of a field."""
        return any(condition(item) for item in self.items(value))

    def every(self, conditions: list[Condition]) -> Condition:
        """``and``."""
        return lambda document: all(condition(document) for condition in conditions)

    def any_of(self, conditions: list[Condition]) -> Condition:
        """``or``."""
        return lambda document: any(condition(document) for condition in conditions)

    def negated(self, condition: Condition) -> Condition:
        """``not(...)``."""
        return lambda document: not condition(document)

    def items(self, value: Any) -> list[Any]:
        """The elements of an array; another value alone."""
        if value is None:
            return []
        return value if isinstance(value, list) else [value]


class _Parser:
    """Reads one predicate, by recursive descent."""

    def __init__(self, means: Predicates, tokens: Tokens, variables: dict[str, list[str]]) -> None:
        self.means = means
        self.tokens = tokens
        self.variables = variables
        self.terms = 0
        self.level = 0
        self.faults: list[str] = []

    def whole(self) -> Condition:
        found = self.disjunction(FIELDS)
        kind, _, position = self.tokens.peek()
        if kind != "end":
            raise Syntax(position, "'and', 'or' or the end")
        return found

    def disjunction(self, fields: dict[str, Field]) -> Condition:
        found = [self.conjunction(fields)]
        while self.tokens.takes("or"):
            found.append(self.conjunction(fields))
        return found[0] if len(found) == 1 else self.means.any_of(found)

    def conjunction(self, fields: dict[str, Field]) -> Condition:
        found = [self.term(fields)]
        while self.tokens.takes("and"):
            found.append(self.term(fields))
        return found[0] if len(found) == 1 else self.means.every(found)

    def inside(self, fields: dict[str, Field]) -> Condition:
        """A condition whose opening parenthesis was taken."""
        self.level += 1
        if self.level > MOST_LEVELS:
            raise Fault(f"Predicates may have {MOST_LEVELS} levels of parentheses.")
        found = self.disjunction(fields)
        self.tokens.need(")")
        self.level -= 1
        return found

    def term(self, fields: dict[str, Field]) -> Condition:
        if self.tokens.takes("("):
            return self.inside(fields)
        if self.tokens.takes("not"):
            self.tokens.need("(")
            return self.means.negated(self.inside(fields))
        kind, piece, position = self.tokens.next()
        if kind == "quoted":
            piece = piece[1:-1]
        elif kind != "word" or piece.lower() in KEYWORDS:
            raise Syntax(position, "a field, 'not' or '('")
        if piece not in fields:
            self.faults.append(f"The field '{piece}' does not exist.{suggestion(piece, fields)}")
        return self.comparison(piece, fields.get(piece, UNKNOWN))

    def comparison(self, name: str, field: Field) -> Condition:
        means, tokens = self.means, self.tokens
        self.terms += 1
        if tokens.takes("("):
            self.expect(name, field.kind == "object" or field is UNKNOWN)
            inner = self.inside(field.members or {})
            return lambda document: means.nested(document.get(name), inner)
        if tokens.takes("is"):
            negative = tokens.takes("not")
            if tokens.takes("defined"):
                return lambda document: (name in document) is not negative
            tokens.need("empty")
            self.expect(name, field.is_array or field is UNKNOWN)
            return lambda document: means.is_empty(document.get(name)) is not negative
        if tokens.takes("contains"):
            every = tokens.takes("all")
            if not every:
                tokens.need("any")
            wanted = self.values(name, field)
            self.expect(name, (field.is_array and field.kind != "object") or field is UNKNOWN)
            return lambda document: means.contains(document.get(name), wanted, every=every)
        if tokens.takes("matches"):
            tokens.need("ignore", "case")
            text = self.value(name, field)
            self.expect(name, field.kind == "text" or field is UNKNOWN)
            return lambda document: means.ignoring_case(document.get(name), text)
        if tokens.takes("in") or tokens.takes("not", "in"):
            negative = re.search(r"not\s+in$", tokens.text[: tokens.at], re.IGNORECASE) is not None
            wanted = self.values(name, field)
            return lambda document: means.equals(document.get(name), wanted) is not negative
        if tokens.takes("within"):
            raise Fault(f"The field '{name}' does not support this expression.")
        kind, sign, position = tokens.next()
        if kind != "sign" or sign in "(),":
            raise Syntax(position + fitting(sign.lower(), OPERATORS), "an operator")
        one = self.value(name, field)
        if sign in ("=", "!=", "<>"):
            return lambda document: means.equals(document.get(name), [one]) is (sign == "=")
        return lambda document: means.compares(sign, document.get(name), one)

    def expect(self, name: str, condition: bool) -> None:
        if not condition:
            self.faults.append(f"The field '{name}' does not support this expression.")

    def value(self, name: str, field: Field) -> Any:
        found = self.literal()
        if found.kind == "variable" and len(found.value) != 1:
            self.faults.append(f"The field '{name}' takes one value here, and a variable has several.")
        return next(iter(self.typed(name, field, found)), None)

    def values(self, name: str, field: Field) -> list[Any]:
        listed: list[Literal] = []
        kind, _, position = self.tokens.peek()
        if self.tokens.takes("("):
            listed.append(self.literal())
            while self.tokens.takes(","):
                listed.append(self.literal())
            self.tokens.need(")")
        elif kind == "variable":
            listed.append(self.literal())
        else:
            raise Syntax(position, "'(' or a variable")
        self.terms += len(listed) - 1
        return [value for each in listed for value in self.typed(name, field, each)]

    def literal(self) -> Literal:
        kind, piece, position = self.tokens.next()
        if kind == "text":
            return Literal("text", re.sub(r'\\(["\\])', r"\1", piece[1:-1]), position)
        if kind == "number":
            number = number_of(piece)
            if number is None:
                raise Syntax(position, "a number")
            sign = -1 if piece.startswith("-") else 1
            return Literal("number", sign * float("inf") if isinstance(number, Beyond) else number, position)
        if kind == "variable":
            name = piece[1:]
            if name not in self.variables:
                self.faults.append(f"Missing parameter value for {name}")
                return Literal("missing", None, position)
            return Literal("variable", self.variables[name], position)
        if kind == "word" and piece.lower() in ("true", "false"):
            return Literal("boolean", piece.lower() == "true", position)
        raise Syntax(position, "a value")

    def typed(self, name: str, field: Field, literal: Literal) -> list[Any]:
        """The values of a literal for a field; several for a variable."""
        if field is UNKNOWN or literal.kind == "missing":
            return []
        self.expect(name, field.kind != "object")
        if field.kind == "object":
            return []
        if literal.kind == "variable":
            return [self.of_text(name, field, text) for text in literal.value]
        if field.kind == "number" and literal.kind == "number":
            return [literal.value]
        if field.kind in ("text", "time") and literal.kind == "text":
            return [self.of_text(name, field, literal.value)]
        self.faults.append(f"The field '{name}' takes {self.what(field)}.")
        return []

    def of_text(self, name: str, field: Field, text: str) -> Any:
        if field.kind == "text":
            return text
        found = number_of(text) if field.kind == "number" else milliseconds(text)
        if isinstance(found, Beyond):
            return float("-inf") if text.startswith("-") else float("inf")
        if found is None:
            self.faults.append(f"The field '{name}' takes {self.what(field)}.")
        return found

    def what(self, field: Field) -> str:
        return {"number": "a number", "text": "a text in double quotes", "time": "a date-time in double quotes"}[
            field.kind
        ]
