"""A statement laid out for a reader. Only the white space between its tokens changes, so its meaning cannot.

Libraries were tried and do not fit. sqlparse indents under the words of the line above and leaves a chain of ``||`` on
one line of 700 characters; pglast does so too, and writes ``AT TIME ZONE`` as a call of a function; sqlglot writes
``now()`` as ``CURRENT_TIMESTAMP``. These files show what is sent, so nothing but white space may differ from it.

What fits into a line stays on one. What does not is divided at the loosest thing in it: clauses, then joins, commas,
``OR``, ``AND``, branches of a ``CASE``, ``||``; at last the longest pair of parentheses is opened.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH = 120
INDENT = "    "

_TOKEN = re.compile(
    r"""
      --[^\n]*                  # a comment
    | '(?:[^']|'')*'            # a text
    | "(?:[^"]|"")*"            # a quoted name
    | %\(\w+\)[sbt] | %[sbt]    # a parameter
    | \w+(?:\.(?:\w+|\*))*      # a word, a number, a name with dots
    | ::(?:\w+)(?:\[\])?        # a cast
    | \|\| | [<>=!@&?~:*/#+-]+ | %%
    | [(),;.\[\]]
    """,
    re.VERBOSE,
)

_QUERIES = ("WITH", "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FOR", "UNION")
_WRITES = ("INSERT", "VALUES", "UPDATE", "SET", "DELETE", "USING", "RETURNING")
_CLAUSES = frozenset((*_QUERIES, *_WRITES))
_NOT_AFTER = {
    "FROM": ("DISTINCT", "DELETE", "epoch"),  # IS DISTINCT FROM, DELETE FROM, extract(epoch FROM ...)
    "UPDATE": ("FOR", "DO"),
}
_JOINS = frozenset(("LEFT", "FULL", "CROSS", "JOIN"))


@dataclass(frozen=True, slots=True)
class Word:
    """A token, and whether white space stands before it."""

    text: str
    spaced: bool

    @property
    def flat(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between parentheses, or between ``CASE`` and ``END``."""

    opening: str
    inner: "Nodes"
    closing: str
    spaced: bool

    @property
    def flat(self) -> str:
        space = " " if self.opening == "CASE" else ""
        return f"{self.opening}{space}{_flat(self.inner)}{space}{self.closing}"


Node = Word | Group
Nodes = Sequence[Node]


def tokens(statement: str) -> list[str]:
    """The tokens of a statement: all that is not white space.

    :raises ValueError: for a character that begins no token.
    """
    return [word.text for word in _words(statement)]


def laid_out(statement: str) -> str:
    """The statement over several lines, each clause on its own."""
    nodes = _grouped(_words(statement), "")
    return "\n".join(_clauses(nodes, WIDTH) or _lines(nodes, WIDTH)) + "\n"


def _words(statement: str) -> Iterator[Word]:
    position, spaced = 0, False
    while position < len(statement):
        if statement[position].isspace():
            position, spaced = position + 1, True
            continue
        match = _TOKEN.match(statement, position)
        if match is None:
            raise ValueError(f"no token begins with {statement[position : position + 20]!r}")
        yield Word(match.group(), spaced)
        position, spaced = match.end(), False


_CLOSING = {"(": ")", "[": "]", "CASE": "END"}


def _grouped(words: Iterator[Word], until: str) -> list[Node]:
    nodes: list[Node] = []
    for word in words:
        if word.text == until:
            return nodes
        closing = _CLOSING.get(word.text)
        nodes.append(word if closing is None else Group(word.text, _grouped(words, closing), closing, word.spaced))
    if until:
        raise ValueError(f"{until} is missing")
    return nodes


def _flat(nodes: Nodes) -> str:
    return "".join((" " if node.spaced and number else "") + node.flat for number, node in enumerate(nodes))


# Each of these takes nodes and the room that they have, and returns lines without an indentation of their own.


def _lines(nodes: Nodes, room: int, *, hanging: bool = True) -> list[str]:
    flat = _flat(nodes)
    if len(flat) <= room and "--" not in flat:
        return [flat]
    return _clauses(nodes, room) or _divided(nodes, room, hanging=hanging) or _opened(nodes, room)


def _clauses(nodes: Nodes, room: int) -> list[str]:
    """A line or more for each clause; none if there are no clauses."""
    parts = _split(nodes, _begins_clause)
    if len(parts) == 1 and not _begins_clause(nodes, 0):
        return []
    lines: list[str] = []
    for part in parts:
        flat = _flat(part)
        if len(flat) <= room and "--" not in flat:
            lines.append(flat)
        elif flat.startswith("--"):
            lines += [part[0].flat, *_lines(part[1:], room)]
        else:
            lines += _clause(part, room)
    return lines


def _clause(part: Nodes, room: int) -> list[str]:
    """A clause that is too long for its line: items of a list below its keyword, all else beginning behind it."""
    if _is(part[0], "WITH", "SELECT", "SET", "RETURNING"):
        head = 2 if _is(part[1], "DISTINCT") else 1
        if len(_split(part[head:], _at_comma)) > 1:
            return [_flat(part[:head]), *_indented(_divided(part[head:], room - len(INDENT)))]
    first, *rest = _divided(part, room) or _opened(part, room)
    return [first, *rest]


def _divided(nodes: Nodes, room: int, *, hanging: bool = True) -> list[str]:
    """Divided at the loosest joint there is; the joint begins a line, but a comma ends one. None if there is none.

    :param hanging: whether the lines of one expression but the first are indented.
    """
    for begins, of_one_expression in _JOINTS:
        parts = _split(nodes, begins)
        if len(parts) > 1:
            lines = _lines(parts[0], room)
            for part in parts[1:]:
                indented = of_one_expression and hanging
                lines += _indented(_lines(part, room - len(INDENT))) if indented else _lines(part, room)
            return lines
    return []


def _opened(nodes: Nodes, room: int) -> list[str]:
    """The longest group over several lines."""
    groups = [(len(node.flat), number) for number, node in enumerate(nodes) if isinstance(node, Group) and node.inner]
    if not groups:
        return [_flat(nodes)]
    _, number = max(groups)
    group = nodes[number]
    assert isinstance(group, Group)
    before = _flat([*nodes[:number], Word(group.opening, group.spaced)])
    after = _flat([Word(group.closing, False), *nodes[number + 1 :]])
    return [before, *_indented(_lines(group.inner, room - len(INDENT), hanging=False)), after]


def _indented(lines: Sequence[str]) -> list[str]:
    return [INDENT + line for line in lines]


# Where lines are divided. Each function tells whether a new part begins at a position.

Begins = Callable[[Nodes, int], bool]


def _split(nodes: Nodes, begins: Begins) -> list[Nodes]:
    bounds = [0, *(number for number in range(1, len(nodes)) if begins(nodes, number)), len(nodes)]
    return [nodes[start:end] for start, end in pairwise(bounds)]


def _is(node: Node, *texts: str) -> bool:
    return isinstance(node, Word) and node.text in texts


def _begins_clause(nodes: Nodes, number: int) -> bool:
    node = nodes[number]
    if isinstance(node, Group):
        return number > 1 and _is(nodes[number - 1], "ALL") and _is(nodes[number - 2], "UNION")
    if number > 0 and _is(nodes[number - 1], *_NOT_AFTER.get(node.text, ())):
        return False
    if node.text == "WITH":
        return number == 0  # not WITH ORDINALITY
    if node.text == "ON":
        return _is(nodes[number + 1], "CONFLICT")
    return node.text in _CLAUSES or node.text.startswith("--")


def _at_comma(nodes: Nodes, number: int) -> bool:
    return _is(nodes[number - 1], ",")


def _at_join(nodes: Nodes, number: int) -> bool:
    return _is(nodes[number], *_JOINS) and not _is(nodes[number - 1], *_JOINS)


def _at_and(nodes: Nodes, number: int) -> bool:
    if not _is(nodes[number], "AND"):
        return False
    before = next((node for node in reversed(nodes[:number]) if _is(node, "AND", "BETWEEN")), None)
    return before is None or not _is(before, "BETWEEN")


def _at_literal(nodes: Nodes, number: int) -> bool:
    """A literal of a chain, so that a member of JSON and its value share a line."""
    return _is(nodes[number], "||") and nodes[number + 1].flat.startswith("'")


def _at(*texts: str) -> Begins:
    return lambda nodes, number: _is(nodes[number], *texts)


_JOINTS: Sequence[tuple[Begins, bool]] = (
    (_at_join, True),
    (_at_comma, False),
    (_at("WHEN", "ELSE"), False),
    (_at("THEN"), True),
    (_at("OR"), True),
    (_at_and, True),
    (_at_literal, True),
    (_at("||"), True),
)
