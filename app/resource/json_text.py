"""SQL that makes JSON as text, by concatenation. Values are SQL expressions.

The stored text of an ObjectType becomes part of an answer as it is. PostgreSQL's own functions for JSON would parse it
for each row and write other white space.
"""

from typing import LiteralString


def concatenated(*texts: LiteralString) -> LiteralString:
    """The texts, one after the other. Adjacent literals become one, which saves a concatenation for each row.

    :param texts: literals, and expressions that bind as tight as ``||`` or tighter; ``''`` adds nothing.
    """
    merged: list[LiteralString] = []
    for text in texts:
        if merged and merged[-1].endswith("'") and text.startswith("'"):
            merged[-1] = merged[-1][:-1] + text[1:]
        else:
            merged.append(text)
    return " || ".join(merged)


def quoted(value: LiteralString) -> LiteralString:
    """A text that contains nothing to escape, as a JSON string."""
    return concatenated("'\"'", value, "'\"'")


def member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member of an object, with a comma before it.

    :param value: JSON; NULL makes the whole member NULL.
    """
    return concatenated(f"',\"{name}\":'", value)


def text_member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member whose value is a text that contains nothing to escape."""
    return member(name, quoted(value))


def optional_member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member of an object, with a comma before it; nothing if the value is NULL."""
    return f"coalesce({member(name, value)}, '')"


def members(*each: LiteralString) -> LiteralString:
    """Members without a comma before the first one, which must not be an optional one."""
    return "'" + concatenated(*each).removeprefix("',")


def object_(*each: LiteralString) -> LiteralString:
    """An object of these members; the first one must not be optional."""
    return concatenated("'{'", members(*each), "'}'")


def object_with_members_of(other: LiteralString, *each: LiteralString) -> LiteralString:
    """An object of these members and those of another object.

    :param other: the text of the other object, which PostgreSQL did not format: ``{}`` or ``{"...``.
    """
    rest: LiteralString = f"CASE {other} WHEN '{{}}' THEN '}}' ELSE ',' || substr({other}, 2) END"
    return concatenated("'{'", members(*each), rest)
