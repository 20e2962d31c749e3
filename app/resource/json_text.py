"""Functions that return SQL expressions for JSON text, made by concatenation. Their arguments are SQL expressions.

The stored text of an ObjectType becomes part of an answer as it is. PostgreSQL's own functions for JSON would parse it
for each row and write other white space.
"""

from typing import LiteralString


def concatenated(*texts: LiteralString) -> LiteralString:
    """The SQL that concatenates texts. Adjacent literals are merged, which saves a concatenation for each row.

    :param texts: literals, and expressions whose operators have at least the precedence of ``||``; ``''`` adds nothing.
    """
    merged: list[LiteralString] = []
    for text in texts:
        if merged and merged[-1].endswith("'") and text.startswith("'"):
            merged[-1] = merged[-1][:-1] + text[1:]
        else:
            merged.append(text)
    return " || ".join(merged)


def quoted(value: LiteralString) -> LiteralString:
    """The JSON string of a text that needs no escapes."""
    return concatenated("'\"'", value, "'\"'")


def member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member of an object, with a comma before it.

    :param value: JSON; NULL makes the whole member NULL.
    """
    return concatenated(f"',\"{name}\":'", value)


def text_member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member whose value is a text that needs no escapes, with a comma before it."""
    return member(name, quoted(value))


def optional_member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member of an object, with a comma before it; an empty text if the value is NULL."""
    return f"coalesce({member(name, value)}, '')"


def members(*each: LiteralString) -> LiteralString:
    """Members of an object, without a comma before the first one. The first one must not be optional."""
    return "'" + concatenated(*each).removeprefix("',")


def object_(*each: LiteralString) -> LiteralString:
    """A JSON object with these members; the first one must not be optional."""
    return concatenated("'{'", members(*each), "'}'")


def object_with_members_of(other: LiteralString, *each: LiteralString) -> LiteralString:
    """A JSON object with these members, followed by the members of the object ``other``.

    :param other: the text of an object without white space at its beginning: ``{}`` or ``{"...``.
    """
    rest: LiteralString = f"CASE {other} WHEN '{{}}' THEN '}}' ELSE ',' || substr({other}, 2) END"
    return concatenated("'{'", members(*each), rest)
