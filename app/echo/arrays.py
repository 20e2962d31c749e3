"""Makes the answers of the echo endpoints (interface 4.9 and 4.13): each received value, in the array of its type.

The endpoints store nothing. An answer shows the author of a client how each value of path, query and body has arrived.
"""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlencode

from app import errors
from app.echo.record import ComplexRecord
from app.values import timestamps
from app.values.json_fields import MISSING
from app.values.strict_json import INT64_MAX, INT64_MIN, encode, is_negative_zero


def epoch_milliseconds(moment: datetime) -> int:
    """The milliseconds from 1970 to a time, rounded down."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


ArrayFields = dict[str, list[Any]]


def echo(paths: tuple[str, ...], one: int | float | None, two: str | None, record: ComplexRecord) -> ArrayFields:
    """All received values, each in the array of its type. Empty arrays are left out.

    :param paths: the path parameters.
    :param one: ``queryParameterOne``.
    :param two: ``queryParameterTwo``.
    """
    untyped = record.untyped.values()
    numbers = [value for value in untyped if _is_number(value)]
    integers = [int(value) for value in numbers if _is_int64(value)]
    given = [] if one is None else [one]
    arrays: ArrayFields = {
        "arrayOfIntExample": integers,
        "arrayOfUniqueIntExample": list(dict.fromkeys(integers)),
        "arrayOfTwonumbersExample": [],
        "arrayOfFloatExample": [_as_stored(value) for value in given],
        "arrayOfNumberNoDefaultsExample": [_as_stored(value) for value in (*given, *numbers)],
        "arrayOfStringExample": [
            *paths,
            *(() if two is None else (two,)),
            *(_as_text(value) for value in untyped if not _is_number(value)),
            *record.names,
        ],
    }
    if record.created_at is not None and record.last_modified_at is not None:
        times = (record.created_at, record.last_modified_at)
        arrays["arrayOfTwonumbersExample"] = [epoch_milliseconds(moment) for moment in times]
    return {name: values for name, values in arrays.items() if values}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_int64(number: int | float) -> bool:
    """Whether an array of integers accepts a number."""
    return is_negative_zero(number) or (isinstance(number, int) and INT64_MIN <= number <= INT64_MAX)


def _as_stored(number: int | float) -> int | float:
    """A number in the form in which a resource would store it: an integer beyond int64 becomes a double."""
    return number if INT64_MIN <= number <= INT64_MAX else float(number)


def _as_text(value: Any) -> str:
    """The text of a value: a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else encode(value)


def form_encoded(arrays: ArrayFields) -> str:
    """Encode arrays as ``application/x-www-form-urlencoded``, with a pair for each item."""
    return urlencode([(name, _as_text(value)) for name, values in arrays.items() for value in values])


def date_times(record: ComplexRecord) -> dict[str, str]:
    """The date/time sample record (interface 2.5) of a body's lastModifiedAt; if it has none, of its createdAt.

    :raises ApiError: 400 if the body has neither.
    """
    moment = record.last_modified_at or record.created_at
    if moment is None:
        raise errors.ApiError([errors.shape_fault(f"lastModifiedAt: {MISSING}")])
    milliseconds = timestamps.text_of(moment)
    return {
        "dateOnlyExample": moment.date().isoformat(),
        "timeOnlyExample": moment.time().isoformat(timespec="seconds"),
        "dateTimeOnlyExample": moment.replace(tzinfo=None).isoformat(timespec="seconds"),
        "dateTimeExample": milliseconds,
        "dateTimeExampleDefaultFormat": milliseconds,
        "dateTimeExampleRfc": format_datetime(moment, usegmt=True),
    }
