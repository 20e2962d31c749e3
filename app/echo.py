"""The echo endpoints (interface 4.9 and 4.13): their parameters and bodies, and the arrays that they answer.

The endpoints store nothing. The answer of :func:`echo` shows the author of a client how the values of path, query and
body have arrived.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlencode

from app import errors
from app.values import timestamps
from app.values.json_fields import (
    MISSING,
    NestedObject,
    StrictField,
    StrictSchema,
    Text,
    Timestamp,
    check_json,
    check_number,
)
from app.values.parameters import NumberParameter, Parameter, QuerySchema
from app.values.strict_json import INT64_MAX, INT64_MIN, encode, is_negative_zero

# The body and the parameters

UNTYPED = (
    "id",
    "version",
    "key",
    "custom",
    "eigthProperty",
    "ninthProperty",
    "tenthProperty",
    "eleventhPropery",
    "twelthProperty",
    "thirteenthProperty",
    "fourteenthProperty",
    "fifteenthProperty",
)
"""The fields of the record whose types the interface does not show, in the order and the spelling of the interface."""


@dataclass(frozen=True, slots=True)
class ComplexRecord:
    """A checked complex body record (interface 2.4)."""

    untyped: Mapping[str, Any]
    """The sent fields of :data:`UNTYPED` that are not null, in the order of that tuple. Their values are any JSON
    values."""
    created_at: datetime | None
    last_modified_at: datetime | None
    names: tuple[str, ...]
    """The sent first and last names, first those of createdBy, then those of lastModifiedBy."""


class PersonSchema(StrictSchema):
    """The schema of ``createdBy`` and ``lastModifiedBy`` of the complex record."""

    firstName = Text(stored=False)
    lastName = Text(stored=False)


def _any_json() -> StrictField:
    """A field whose type the interface does not show: any JSON value that a body may have, kept as it was sent."""
    # "" would be the message for null. It is never used, because null in an optional field counts as absent.
    return StrictField(check_json, "", metadata={"description": "any JSON value"})


class ComplexRecordSchema(StrictSchema.from_dict({name: _any_json() for name in UNTYPED})):
    """The schema of the complex body record (interface 2.4). Every field is optional."""

    createdAt = Timestamp()
    lastModifiedAt = Timestamp()
    createdBy = NestedObject(PersonSchema)
    lastModifiedBy = NestedObject(PersonSchema)

    def make(self, data: dict[str, Any]) -> ComplexRecord:
        persons: list[dict[str, str]] = [data.get(name, {}) for name in ("createdBy", "lastModifiedBy")]
        return ComplexRecord(
            untyped={name: data[name] for name in UNTYPED if name in data},
            created_at=data.get("createdAt"),
            last_modified_at=data.get("lastModifiedAt"),
            names=tuple(person[part] for person in persons for part in ("firstName", "lastName") if part in person),
        )


EchoQuery = tuple[int | float | None, str | None]
"""The loaded parameters ``queryParameterOne`` and ``queryParameterTwo``."""


class EchoQuerySchema(QuerySchema):
    """The schema of the query parameters ``queryParameterOne`` and ``queryParameterTwo``."""

    one = NumberParameter(data_key="queryParameterOne", meaning="any number", example=0.5)
    # Any text: the query string is UTF-8, and the text is not stored.
    two = Parameter(str, {"type": "string"}, data_key="queryParameterTwo", meaning="any text", example="any text")

    def make(self, values: dict[str, Any]) -> EchoQuery:
        return values.get("one"), values.get("two")


# The answers

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NUMBERS = (int, float)
"""The exact types of the numbers of a body, because a bool is an int, too."""

ArrayFields = dict[str, list[Any]]


def echo(paths: tuple[str, ...], query: EchoQuery, record: ComplexRecord) -> ArrayFields:
    """Put the received values into arrays. The clauses 4.9-2 and 4.9-3 of ``docs/specification.md`` say which array
    holds which values. Empty arrays are left out.

    ``arrayOfTwonumbersExample`` holds the two times of the record, in milliseconds since 1970. If the record lacks one
    of them, this array is empty, and so is left out.

    :param paths: the path parameters; empty for the endpoint without any (4.13).
    """
    one, two = query
    untyped = record.untyped.values()
    sent = [value for value in untyped if type(value) in _NUMBERS]
    # check_number keeps an int within int64. It rounds any other number to the nearest double, and makes an int of this
    # double if the double is whole, within int64 and not -0.0. It refuses nothing here: the schema of the record has
    # already refused numbers beyond all doubles (_any_json).
    numbers = [check_number(value) for value in sent]
    integers = [int(value) for value in sent if _is_int64(value)]  # int() makes 0 of -0.0
    given = [] if one is None else [one]
    arrays: ArrayFields = {
        "arrayOfIntExample": integers,
        "arrayOfUniqueIntExample": list(dict.fromkeys(integers)),
        "arrayOfTwonumbersExample": [],  # filled below; here for its place in the order
        "arrayOfFloatExample": given,
        "arrayOfNumberNoDefaultsExample": [*given, *numbers],
        "arrayOfStringExample": [
            *paths,
            *(() if two is None else (two,)),
            *(_as_text(value) for value in untyped if type(value) not in _NUMBERS),
            *record.names,
        ],
    }
    if record.created_at is not None and record.last_modified_at is not None:
        times = (record.created_at, record.last_modified_at)
        arrays["arrayOfTwonumbersExample"] = [(moment - _EPOCH) // timedelta(milliseconds=1) for moment in times]
    return {name: values for name, values in arrays.items() if values}


def _is_int64(number: int | float) -> bool:
    """Whether a number of a body is a whole number within int64."""
    # The decoder makes ints of 3.0 and 1e2, too, so -0.0 is the only float that is a whole number within int64.
    return is_negative_zero(number) if isinstance(number, float) else INT64_MIN <= number <= INT64_MAX


def _as_text(value: Any) -> str:
    """The text of a value: a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else encode(value)


def form_encoded(arrays: ArrayFields) -> str:
    """Encode arrays as ``application/x-www-form-urlencoded``, with a pair for each item."""
    return urlencode([(name, _as_text(value)) for name, values in arrays.items() for value in values])


def date_times(body: ComplexRecord) -> dict[str, str]:
    """The date/time record (interface 2.5) for a body. All its fields are made from one time, in different formats,
    such as the date alone. The time is the body's ``lastModifiedAt``, or its ``createdAt`` if the body has no
    ``lastModifiedAt``.

    :raises ApiError: 400 if the body has neither.
    """
    moment = body.last_modified_at or body.created_at
    if moment is None:
        raise errors.ApiError([errors.shape_fault(f"lastModifiedAt: {MISSING}")])
    with_milliseconds = timestamps.text_of(moment)
    return {
        "dateOnlyExample": moment.date().isoformat(),
        "timeOnlyExample": moment.time().isoformat(timespec="seconds"),
        "dateTimeOnlyExample": moment.replace(tzinfo=None).isoformat(timespec="seconds"),
        "dateTimeExample": with_milliseconds,
        "dateTimeExampleDefaultFormat": with_milliseconds,
        "dateTimeExampleRfc": format_datetime(moment, usegmt=True),
    }
