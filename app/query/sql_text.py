"""Helpers for SQL that is composed of literal strings only; the type checker refuses any other string. The only casts
to a literal string are here, of integers.

psycopg.sql composes SQL as safely, but its objects took 150 µs for the statement of a page, a third of the whole
request.
"""

from typing import Any, LiteralString, cast

Parameters = dict[str, Any]
"""The values of a statement's parameters by their names."""

_TIME_FORMAT: LiteralString = '\'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\''


def numbered(name: LiteralString, number: int) -> LiteralString:
    """The name of one of several parameters or columns of a statement, such as ``sort_0``. The cast is safe, because
    what is added to the name is an integer."""
    return cast("LiteralString", f"{name}_{number:d}")


def literal(number: int) -> LiteralString:
    """An integer as a literal of SQL."""
    return cast("LiteralString", f"{number:d}")


def placeholder(name: LiteralString) -> LiteralString:
    """The placeholder of a parameter in a statement."""
    return f"%({name})s"


def utc_time(timestamp: LiteralString) -> LiteralString:
    """The SQL that formats a timestamp as answers contain it."""
    return f"to_char({timestamp} AT TIME ZONE 'UTC', {_TIME_FORMAT})"
