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
from app.values.json_fields import MISSING, check_number
from app.values.strict_json import encode, is_negative_zero

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

ArrayFields = dict[str, list[Any]]


def echo(paths: tuple[str, ...], one: int | float | None, two: str | None, record: ComplexRecord) -> ArrayFields:
    """All received values, each in the array of its type. Empty arrays are left out.

    :param paths: the path parameters.
    :param one: ``queryParameterOne``.
    :param two: ``queryParameterTwo``.
    """
    untyped = record.untyped.values()
    numbers = [check_number(value) for value in untyped if _is_number(value)]
    # Of the numbers, check_number leaves only integers within int64 as integers.
    integers = [int(number) for number in numbers if isinstance(number, int) or is_negative_zero(number)]
    given = [] if one is None else [one]
    arrays: ArrayFields = {
        "arrayOfIntExample": integers,
        "arrayOfUniqueIntExample": list(dict.fromkeys(integers)),
        "arrayOfTwonumbersExample": [],
        "arrayOfFloatExample": given,
        "arrayOfNumberNoDefaultsExample": [*given, *numbers],
        "arrayOfStringExample": [
            *paths,
            *(() if two is None else (two,)),
            *(_as_text(value) for value in untyped if not _is_number(value)),
            *record.names,
        ],
    }
    if record.created_at is not None and record.last_modified_at is not None:
        times = (record.created_at, record.last_modified_at)
        arrays["arrayOfTwonumbersExample"] = [(moment - _EPOCH) // timedelta(milliseconds=1) for moment in times]
    return {name: values for name, values in arrays.items() if values}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
