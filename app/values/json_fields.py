"""Strict marshmallow fields for JSON bodies: they refuse a value of another type, and do not convert it to their own.

A field refuses a value with a marshmallow ``ValidationError``. The message is a text if the structure is wrong (type,
missing or unknown field), a :class:`RefusedValue` if a value of the right type is not accepted, or the fault itself.
:func:`faults_of` converts the tree of messages to faults of the error catalogue, each with the path of its field.
"""

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from math import inf, isfinite
from typing import Any, NoReturn, cast

from marshmallow import RAISE, Schema, ValidationError, fields

from app import errors
from app.errors import FAULTS_AT_MOST
from app.values import timestamps
from app.values.strict_json import INT64_MAX, INT64_MIN, is_negative_zero, lone_surrogate, unstorable_character
from app.values.suggestions import did_you_mean

MISSING = "Missing required value."
OBJECT_EXPECTED = "JSON object expected."
STRING_EXPECTED = "JSON String expected."
NUMBER_EXPECTED = "JSON Number expected."
INTEGER_EXPECTED = "JSON Number without a fraction expected."
BOOLEAN_EXPECTED = "JSON Boolean expected."
ARRAY_EXPECTED = "JSON Array expected."


@dataclass(frozen=True, slots=True)
class RefusedValue:
    """A message of a ``ValidationError`` about a value of the right type that is not accepted."""

    value: Any
    reason: str

    def __str__(self) -> str:
        # Only the reason, without the value: app.resource.params.read_contained_object makes the message for a refused
        # objectParameter by str(), and this message does not show the value.
        return self.reason


def refuse_value(value: Any, reason: str) -> NoReturn:
    """Refuse a value of the right type.

    :raises ValidationError: always.
    """
    raise ValidationError(cast(Any, [RefusedValue(value, reason)]))


def refuse_shape(reason: str) -> NoReturn:
    """Refuse a value of the wrong type, or one with too many levels.

    :raises ValidationError: always.
    """
    raise ValidationError(reason)


# Checks: each takes a decoded JSON value and returns the value to keep, or raises a ValidationError.

Check = Callable[[Any], Any]


def integer_check(minimum: int, maximum: int, name: str) -> Check:
    """Return a check for integers within a range, which contains 0.

    The decoder makes an ``int`` of every whole number within int64 except ``-0.0``, even of ``1.0`` and ``1e2``. So
    there are three kinds of floats to check:

    - ``-0.0`` is kept as 0.
    - A float of a magnitude of 2**63 or more, such as ``1e30``, is refused as out of range. The literal may have had a
      fraction, but doubles of this size do not show it.
    - Any other float comes from a literal with a fraction, and is refused as a value of the wrong type.

    :param name: the name of the range in messages, such as ``int64``.
    """

    def check(value: Any) -> int:
        """Return the integer, or raise a ValidationError."""
        if type(value) is int and minimum <= value <= maximum:
            return value
        if isinstance(value, float) and is_negative_zero(value):
            return 0
        if type(value) is int or (isinstance(value, float) and abs(value) >= 2**63):
            refuse_value(value, f"An {name} integer is expected, from {minimum} to {maximum}.")
        refuse_shape(INTEGER_EXPECTED)

    return check


check_int64 = integer_check(INT64_MIN, INT64_MAX, "int64")
check_int32 = integer_check(-(2**31), 2**31 - 1, "int32")


def check_number(value: Any) -> int | float:
    """The check for numbers.

    - An ``int`` within int64 is returned as it is, even if no double equals it.
    - Any other number is rounded to the nearest double. If the number is beyond all doubles, it is refused. If the
      rounded number is whole and within int64, it is returned as an ``int``, otherwise as a double. -0.0 stays a
      double, because an ``int`` would lose its sign.
    """
    if type(value) is int and INT64_MIN <= value <= INT64_MAX:
        return value
    if type(value) is not int and not isinstance(value, float):
        refuse_shape(NUMBER_EXPECTED)
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        refuse_value(value, "A number that a double can hold is expected.")
    # A number that was sent as a whole number within int64, except -0.0, is an int already. But some other numbers are
    # rounded to a whole number within int64. For example, 9007199254740992.5 has a fraction, and is rounded to
    # 9007199254740992.0; -2**63 - 1 is less than INT64_MIN, and is rounded to -2**63. The rounded number then becomes
    # an int, too.
    is_integer = number.is_integer() and INT64_MIN <= number <= INT64_MAX and not is_negative_zero(number)
    return int(number) if is_integer else number


TEXT: Mapping[str, Any] = {"type": "string"}
"""The JSON Schema of texts that need not be stored. It does not say that lone surrogates are refused: some validators
would then refuse all characters beyond U+FFFF."""

STORABLE_TEXT: Mapping[str, Any] = {"type": "string", "pattern": "^[^\\u0000]*$"}
"""The JSON Schema of texts that :func:`check_text` accepts, except that it does not say that lone surrogates are
refused."""


def check_text(value: Any, *, stored: bool = True) -> str:
    """The check for Unicode texts, which have no lone surrogates.

    :param stored: whether to refuse U+0000 too, which PostgreSQL cannot store.
    """
    if not isinstance(value, str):
        refuse_shape(STRING_EXPECTED)
    refused = unstorable_character(value) if stored else lone_surrogate(value)
    if refused is not None:
        refuse_value(value, f"A text cannot hold {refused}.")
    return value


NESTED_AT_MOST = 100
"""The most levels of arrays and objects in a field that accepts any JSON value, because checks are recursive and
Python's stack is limited."""


def check_json(value: Any, level: int = 0, *, stored: bool = False) -> Any:
    """The check for any JSON value whose texts are Unicode and whose numbers a double can hold.

    :param level: the number of arrays and objects around the value in the field.
    :param stored: whether to refuse texts that PostgreSQL cannot store, and to convert the value to the form of stored
        ObjectTypes. The conversion drops members and items that are ``null``, and replaces each number by the result of
        :func:`check_number`. If False, the value is returned as it is.

        Items that are ``null`` are dropped before the positions of the others are counted. So the position in an error
        may be lower than the item's position in the client's array. Clients do not see this position: the only caller
        that sets ``stored`` (``read_contained_object``) drops the paths of the messages.
    """
    if isinstance(value, str):
        return check_text(value, stored=stored)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        number = check_number(value)  # in any case, because it refuses numbers that no double can hold
        return number if stored else value
    if level == NESTED_AT_MOST:
        refuse_shape(f"JSON value with at most {NESTED_AT_MOST} levels expected.")
    if isinstance(value, list):
        items: list[Any] = [item for item in value if item is not None] if stored else value
        return check_items(items, lambda item: check_json(item, level + 1, stored=stored))
    kept: dict[str, Any] = {}
    refused: dict[str, Any] = {}
    for name, member in cast("dict[str, Any]", value).items():
        try:
            if member is not None or not stored:
                kept[check_text(name, stored=stored)] = check_json(member, level + 1, stored=stored)
        except ValidationError as error:
            refused[name] = error.messages
            if len(refused) >= FAULTS_AT_MOST:
                break
    if refused:
        raise ValidationError(cast(Any, refused))
    return kept


def check_boolean(value: Any) -> bool:
    """The check for ``true`` and ``false``."""
    if not isinstance(value, bool):
        refuse_shape(BOOLEAN_EXPECTED)
    return value


Member = tuple[str, Check, str | None]
"""A field of a JSON object, for :func:`read_object`: the key of its value in the result, its check, and the message for
``null`` if the field is required. None if the field is optional: then ``null`` counts as absent, because serializers in
Java and C# send ``null`` for every unset field."""


def read_object(value: Any, members: Mapping[str, Member]) -> dict[str, Any]:
    """Check the fields of a JSON object, and return a new dictionary with the checked value of each field that is
    present. A required field that is absent or ``null`` is refused. An optional field that is ``null`` counts as
    absent. An unknown field is refused unless it is ``null``.

    :param members: the known fields, by their names in the JSON object. A :data:`Member` also contains the key under
        which the value of the field stands in the result.
    :raises ValidationError: if the value is no object, or if any field is refused. The error for refused fields has the
        messages of all refused known fields, in the order of ``members``, and after them the messages of at most
        :data:`app.errors.FAULTS_AT_MOST` unknown fields.
    """
    if type(value) is not dict:
        refuse_shape(OBJECT_EXPECTED)
    given = cast("dict[str, Any]", value)
    kept: dict[str, Any] = {}
    refused: dict[str, Any] = {}
    for public, (name, check, if_null) in members.items():
        item = given.get(public)
        if item is not None:
            try:
                kept[name] = check(item)
            except ValidationError as error:
                refused[public] = error.messages
        elif if_null is not None:
            refused[public] = [if_null if public in given else MISSING]
    if not given.keys() <= members.keys():
        # An unknown field that is null counts as absent, because a client with one class for all update actions sends
        # null for the fields of the other actions.
        unknown = islice((name for name in given if name not in members and given[name] is not None), FAULTS_AT_MOST)
        refused |= {name: [f"Unknown field.{did_you_mean(name, members)}"] for name in unknown}
    if refused:
        raise ValidationError(cast(Any, refused))
    return kept


def object_check(checks: Mapping[str, Check]) -> Check:
    """Return a check for objects that have only these members, all optional, each with its own check."""
    members: Mapping[str, Member] = {name: (name, check, None) for name, check in checks.items()}
    return lambda value: read_object(value, members)


def check_items(values: Any, check: Check) -> list[Any]:
    """Check each item of an array, and return what the check returns for each of them.

    :raises ValidationError: if the value is no array, or with the messages of at most
        :data:`app.errors.FAULTS_AT_MOST` refused items, by their positions.
    """
    if not isinstance(values, list):
        refuse_shape(ARRAY_EXPECTED)
    kept: list[Any] = []
    refused: dict[int, Any] = {}
    for position, item in enumerate(cast("list[Any]", values)):
        try:
            kept.append(check(item))
        except ValidationError as error:
            refused[position] = error.messages
            if len(refused) >= FAULTS_AT_MOST:
                break
    if refused:
        raise ValidationError(cast(Any, refused))
    return kept


# Fields


def _options(
    expected: str, *, required: bool = False, data_key: str | None = None, metadata: Mapping[str, Any] | None = None
) -> Any:
    """The keyword arguments for the constructor of a marshmallow field.

    A field takes only the options in this signature. marshmallow's others, such as ``validate``, would have no effect,
    because :class:`StrictSchema` does not use marshmallow's load. So Python refuses them here with a TypeError.

    :param expected: the message for ``null``. The field keeps it in ``error_messages["null"]``, where the constructor
        of :class:`StrictSchema` reads it if the field is required.
    """
    return {"required": required, "data_key": data_key, "metadata": metadata, "error_messages": {"null": expected}}


class StrictField(fields.Field[Any]):
    """A field of a JSON body with one check.

    :param check: returns the value to keep, or raises a ValidationError.
    :param expected: the message for ``null`` if the field is required; otherwise ``null`` counts as absent.
    :param options: marshmallow's ``required``, ``data_key`` and ``metadata``.
    """

    def __init__(self, check: Check, expected: str, **options: Any) -> None:
        super().__init__(**_options(expected, **options))
        self.check = check


class Text(StrictField):
    """A field of a JSON body that is a string.

    :param pattern: a regular expression that the whole string must match.
    :param reason: the message for a string that does not match.
    :param stored: whether the string has to be one that PostgreSQL can store.
    """

    def __init__(self, pattern: str | None = None, reason: str = "", *, stored: bool = True, **arguments: Any) -> None:
        compiled = re.compile(pattern) if pattern else None

        def check(value: Any) -> str:
            """The check for the text and its pattern."""
            text = check_text(value, stored=stored)
            if compiled is not None and compiled.fullmatch(text) is None:
                refuse_value(text, reason)
            return text

        schema = {"type": "string", "pattern": f"^{pattern}$"} if pattern else dict(STORABLE_TEXT if stored else TEXT)
        arguments["metadata"] = schema | arguments.get("metadata", {})
        super().__init__(check, STRING_EXPECTED, **arguments)


def check_timestamp(value: Any) -> datetime:
    """The check for a date-time of RFC 3339, which is returned in UTC."""
    text = check_text(value, stored=False)  # not stored as text; U+0000 is in no date-time
    try:
        return timestamps.parse(text)
    except ValueError as error:
        refuse_value(text, str(error))


def check_any_integer_or_double(value: Any) -> int | float:
    """The check for numbers. An ``int`` of any size is returned as it is; :func:`check_number` checks any other value.

    An integer of more than 4,300 digits is refused: the decoder makes an infinity of it, and ``check_number`` refuses
    infinities.
    """
    return value if type(value) is int else check_number(value)


Number = partial(StrictField, check_any_integer_or_double, NUMBER_EXPECTED, metadata={"type": "number"})
"""A field of a JSON body that is a number; an integer has at most 4,300 digits."""

Timestamp = partial(StrictField, check_timestamp, STRING_EXPECTED, metadata={"type": "string", "format": "date-time"})
"""A field of a JSON body that is a date-time of RFC 3339."""

Boolean = partial(StrictField, check_boolean, BOOLEAN_EXPECTED, metadata={"type": "boolean"})
"""A field of a JSON body that is ``true`` or ``false``."""

ReadOnly = partial(
    StrictField, lambda value: value, "", metadata={"description": "made by the server; ignored in a request"}
)
"""A field that only the server sets. In a body any value is accepted, so that a client can send an answer back;
``make`` of the schema has to leave it out."""


class NestedObject(fields.Nested):
    """A field of a JSON body that is an object with its own schema. The schema has to be strict, because its ``load``
    is the check, and that of a plain schema would convert values."""

    def __init__(self, nested: type[Schema], **options: Any) -> None:
        # This is checked at run time. With the annotation type[StrictSchema], a type checker would also refuse strict
        # schemas that StrictSchema.from_dict makes, because marshmallow declares that from_dict returns type[Schema].
        if not issubclass(nested, StrictSchema):
            raise TypeError(f"{nested.__name__} is no strict schema.")
        schema = nested()
        super().__init__(schema, **_options(OBJECT_EXPECTED, **options))
        self.check: Check = schema.load


class StrictSchema(Schema):
    """The schema of a body: a JSON object whose fields are strict fields and nested objects. Unknown fields are
    refused.

    The fields are declared as in marshmallow, also for the OpenAPI document, and loaded in one pass by
    :func:`read_object`. With marshmallow's own load a create would take 16 % longer, and messages could not suggest a
    similar field. No load calls marshmallow's hooks; a schema may have ``make``.
    """

    class Meta:
        unknown = RAISE  # only for the OpenAPI document; read_object refuses unknown fields

    def __init__(self) -> None:
        """Make the table of fields that :func:`read_object` needs, once for all loads.

        :raises TypeError: if a field is neither a strict field nor a nested object.
        """
        super().__init__()
        self._members: dict[str, Member] = {}
        for name, field in self.fields.items():
            if not isinstance(field, StrictField | NestedObject):
                raise TypeError(f"{type(self).__name__}.{name} is neither a strict field nor a nested object.")
            # None marks an optional field, for which null counts as absent (see Member).
            if_null = str(field.error_messages["null"]) if field.required else None
            self._members[field.data_key or name] = (name, field.check, if_null)

    def make(self, data: dict[str, Any]) -> Any:
        """Make the result of a load from its loaded fields. This base class returns the dictionary of the fields. Each
        load makes a new dictionary, so the caller may change it. A subclass may return another value, or raise a
        ValidationError."""
        return data

    def load(self, data: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] -- takes no options
        """Load a decoded body.

        :raises ValidationError: as :func:`read_object`, and as ``make``.
        """
        return self.make(read_object(data, self._members))


# From messages to faults

_LONGEST_STEP, _LONGEST_PATH = 100, 1000
"""The most characters of a field name in a path, and of a path, because an unknown name may have any length, and any
JSON value many levels."""


def faults_of(messages: Any) -> list[errors.Fault]:
    """Convert the messages about a body to faults, in the order of the messages. Each fault names the path of its
    field; a text about the whole body gets no path.

    A message may also be a :class:`~app.errors.Fault`. This fault is returned unchanged, because it contains the path
    already.

    :param messages: the messages of a marshmallow ``ValidationError``.
    :return: at most :data:`FAULTS_AT_MOST` faults.
    """
    found: list[errors.Fault] = []
    for path, message in islice(messages_with_paths(messages), FAULTS_AT_MOST):
        place = " -> ".join([step[:_LONGEST_STEP] for step in path])[:_LONGEST_PATH]
        if isinstance(message, RefusedValue):
            found.append(errors.value_fault(place, message.value, message.reason))
        elif isinstance(message, errors.Fault):
            found.append(message)
        else:
            found.append(errors.shape_fault(f"{place}: {message}" if path else str(message)))
    return found


def messages_with_paths(messages: Any, path: tuple[str, ...] = ()) -> Generator[tuple[tuple[str, ...], Any]]:
    """Yield each message of a marshmallow ``ValidationError``, with the path of fields to it.

    The key None stands for the object itself, so it adds no step to the path. Only an extension of the service
    (:mod:`app.extension`) raises messages under this key. The key is not marshmallow's ``_schema``, because a field
    could have that name.
    """
    if isinstance(messages, dict):
        for name, inner in cast("dict[Any, Any]", messages).items():
            yield from messages_with_paths(inner, path if name is None else (*path, str(name)))
    else:
        # marshmallow also allows a text in place of a list.
        for message in [messages] if isinstance(messages, str) else cast("list[Any]", messages):
            yield path, message
