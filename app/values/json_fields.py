"""Marshmallow fields of JSON bodies that take a value exactly as it stands or refuse it: nothing is converted.

A refusal is a marshmallow ``ValidationError`` whose messages are texts (the structure is wrong) or
:class:`RefusedValue` (the type is right and the value is not); :func:`faults_of` turns the tree of them into faults
of the error catalogue, each with the path of its field.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn, cast

from marshmallow import RAISE, Schema, ValidationError, fields, missing, post_load

from app import errors
from app.values.strict_json import INT64_MAX, INT64_MIN, is_negative_zero, unstorable_character

MISSING = "Missing required value"
OBJECT_EXPECTED = "JSON object expected."
STRING_EXPECTED = "JSON String expected."
NUMBER_EXPECTED = "JSON Number expected."
INTEGER_EXPECTED = "JSON Number without a fraction expected."
BOOLEAN_EXPECTED = "JSON Boolean expected."
ARRAY_EXPECTED = "JSON Array expected."

INT32_MIN = -(2**31)
INT32_MAX = 2**31 - 1

FAULTS_AT_MOST = 50
"""Faults that one answer lists: a body of ten thousand bad items is not answered by a larger one."""


@dataclass(frozen=True, slots=True)
class RefusedValue:
    """A message of a ``ValidationError``: the value has the right type, and yet it cannot be."""

    value: Any
    reason: str


def refuse_value(value: Any, reason: str) -> NoReturn:
    """Refuse a value of the right type."""
    raise ValidationError(cast(Any, [RefusedValue(value, reason)]))


def refuse_shape(reason: str) -> NoReturn:
    """Refuse a value of the wrong type, or a field that must or must not be there."""
    raise ValidationError(reason)


# Checks: a JSON value in, the value to keep out, or a ValidationError.

Check = Callable[[Any], Any]


def integer_check(minimum: int, maximum: int, name: str) -> Check:
    """A check for integers of a range; ``name`` is what messages call the range."""

    def check(value: Any) -> int:
        if type(value) is not int:
            if isinstance(value, float) and is_negative_zero(value):
                return 0
            if isinstance(value, float) and (value - value != 0 or (value.is_integer() and abs(value) >= 2**63)):
                refuse_value(value, f"An {name} integer is expected, from {minimum} to {maximum}.")
            refuse_shape(INTEGER_EXPECTED)
        if not minimum <= value <= maximum:
            refuse_value(value, f"An {name} integer is expected, from {minimum} to {maximum}.")
        return value

    return check


check_int64 = integer_check(INT64_MIN, INT64_MAX, "int64")
check_int32 = integer_check(INT32_MIN, INT32_MAX, "int32")


def check_number(value: Any) -> int | float:
    """A finite double, or an integer within int64 as it is."""
    if type(value) is int:
        if INT64_MIN <= value <= INT64_MAX:
            return value
        try:
            return float(value)
        except OverflowError:
            refuse_value(value, "A number that a double can hold is expected.")
    if not isinstance(value, float):
        refuse_shape(NUMBER_EXPECTED)
    if value - value != 0:
        refuse_value(value, "A number that a double can hold is expected.")
    return value


STORABLE_TEXT: Mapping[str, Any] = {"type": "string", "pattern": "^[^\\u0000]*$"}
"""What :func:`check_text` takes, as JSON Schema; that lone surrogates are refused cannot be said there."""


def check_text(value: Any) -> str:
    """Any Unicode text that PostgreSQL can keep."""
    if not isinstance(value, str):
        refuse_shape(STRING_EXPECTED)
    unstorable = unstorable_character(value)
    if unstorable is not None:
        refuse_value(value, f"A text cannot hold {unstorable}.")
    return value


def check_boolean(value: Any) -> bool:
    """``true`` or ``false``."""
    if not isinstance(value, bool):
        refuse_shape(BOOLEAN_EXPECTED)
    return value


def object_check(members: Mapping[str, Check]) -> Check:
    """A check for objects that may have these members and no others."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse_shape(OBJECT_EXPECTED)
        given = cast("dict[str, Any]", value)
        kept: dict[str, Any] = {}
        unknown = islice((name for name in given if name not in members), FAULTS_AT_MOST)
        refused: dict[str, Any] = {name: [unknown_name(name, members, "field")] for name in unknown}
        for name, member_check in members.items():
            if name in given:
                try:
                    kept[name] = member_check(given[name])
                except ValidationError as error:
                    refused[name] = error.messages
        if refused:
            raise ValidationError(cast(Any, refused))
        return kept

    return check


def check_items(values: Any, check: Check) -> list[Any]:
    """Check each item of an array, collecting the refusals by position."""
    if not isinstance(values, list):
        refuse_shape(ARRAY_EXPECTED)
    items = cast("list[Any]", values)
    with suppress(ValidationError):
        return [check(item) for item in items]
    # Something is refused: once more, to find out all.
    kept: list[Any] = []
    refused: dict[int, Any] = {}
    for position, item in enumerate(items):
        try:
            kept.append(check(item))
        except ValidationError as error:
            refused[position] = error.messages
            if len(refused) >= FAULTS_AT_MOST:
                break
    if refused:
        raise ValidationError(cast(Any, refused))
    return kept


def unknown_name(name: str, known: Iterable[str], what: str) -> str:
    """The text for a name that is not known, with the nearest one that is."""
    nearest = difflib.get_close_matches(name[:100], list(known), n=1, cutoff=0.6)
    return f"Unknown {what}." + (f" Did you mean '{nearest[0]}'?" if nearest else "")


# Fields


class StrictField(fields.Field[Any]):
    """A field whose value goes through one check.

    :param check: what the value must be.
    :param expected: the text for ``null``, which is no value.
    """

    def __init__(self, check: Check, expected: str, **arguments: Any) -> None:
        arguments.setdefault("allow_none", False)
        arguments["error_messages"] = {"required": MISSING, "null": expected}
        super().__init__(**arguments)
        self.check = check

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Any:
        return self.check(value)


class Text(StrictField):
    """A string; a ``pattern`` it must match as a whole comes with the reason that a refusal gives."""

    def __init__(self, pattern: str | None = None, reason: str = "", **arguments: Any) -> None:
        compiled = re.compile(pattern) if pattern else None

        def check(value: Any) -> str:
            text = check_text(value)
            if compiled is not None and compiled.fullmatch(text) is None:
                refuse_value(text, reason)
            return text

        metadata = {"type": "string", "pattern": f"^{pattern}$"} if pattern else dict(STORABLE_TEXT)
        super().__init__(check, STRING_EXPECTED, metadata=metadata | arguments.pop("metadata", {}), **arguments)


class Number(StrictField):
    """Any JSON number, kept as it is."""

    def __init__(self, **arguments: Any) -> None:
        def check(value: Any) -> int | float:
            if isinstance(value, bool) or not isinstance(value, int | float):
                refuse_shape(NUMBER_EXPECTED)
            if isinstance(value, float):
                return check_number(value)
            return value

        metadata = {"type": "number"} | arguments.pop("metadata", {})
        super().__init__(check, NUMBER_EXPECTED, metadata=metadata, **arguments)


class Boolean(StrictField):
    """``true`` or ``false``."""

    def __init__(self, **arguments: Any) -> None:
        metadata = {"type": "boolean"} | arguments.pop("metadata", {})
        super().__init__(check_boolean, BOOLEAN_EXPECTED, metadata=metadata, **arguments)


class ReadOnly(StrictField):
    """A field that the server makes: accepted, so that an answer can be sent back as it is, and ignored."""

    def __init__(self, **arguments: Any) -> None:
        metadata = {"description": "made by the server, accepted and ignored"}
        super().__init__(lambda value: value, "", allow_none=True, metadata=metadata, **arguments)


class NestedObject(fields.Nested):
    """An object with a schema of its own."""

    def __init__(self, nested: Any, **arguments: Any) -> None:
        arguments["error_messages"] = {"required": MISSING, "null": OBJECT_EXPECTED}
        super().__init__(nested, **arguments)


class _Refused(Exception):
    """A body cannot be loaded; marshmallow says why."""


class StrictSchema(Schema):
    """A body: a JSON object with no other fields than the declared ones, which are strict fields and nested objects."""

    class Meta:
        unknown = RAISE

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.error_messages |= {"type": OBJECT_EXPECTED, "unknown": "Unknown field."}
        self._steps = {
            field.data_key or name: (field.attribute or name, _check_of(field), field.allow_none)
            for name, field in self.fields.items()
        }
        self._required = {field.data_key or name for name, field in self.fields.items() if field.required}
        self._defaults = {
            field.attribute or name: field.load_default
            for name, field in self.fields.items()
            if field.load_default is not missing
        }

    def make(self, data: dict[str, Any]) -> Any:
        """What becomes of the loaded fields; here they stay a dictionary."""
        return data

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Any:
        return self.make(data)

    def load_at_once(self, data: Any) -> Any:
        """Load as marshmallow does, in one pass, which takes a third of its 100 µs for the example of a resource.

        :raises _Refused: for what marshmallow refuses too, without saying why.
        :raises ValidationError: for the same, saying part of it.
        """
        if type(data) is not dict:
            raise _Refused
        members = cast("dict[str, Any]", data)
        if not self._required <= members.keys():
            raise _Refused
        loaded = self._defaults.copy()
        steps = self._steps
        for key, value in members.items():
            if key not in steps:
                raise _Refused
            attribute, check, nullable = steps[key]
            if value is not None:
                loaded[attribute] = check(value)
            elif nullable:
                loaded[attribute] = None
            else:
                raise _Refused
        return self.make(loaded)

    def load(self, data: Any, **arguments: Any) -> Any:
        """Load strictly; an unknown field is refused with the nearest known one."""
        if not arguments:
            with suppress(_Refused, ValidationError):
                return self.load_at_once(data)
        known = [*self._steps]
        try:
            return super().load(_without_more_than_is_told(data, known), **arguments)
        except ValidationError as error:
            messages = cast("dict[str, Any]", error.messages)
            unknown = [name for name, message in messages.items() if message == ["Unknown field."]]
            for name in unknown[:FAULTS_AT_MOST]:
                messages[name] = [unknown_name(name, known, "field")]
            raise


def _check_of(field: fields.Field[Any]) -> Check:
    if isinstance(field, StrictField):
        return field.check
    schema = field.schema if isinstance(field, NestedObject) else None
    if not isinstance(schema, StrictSchema):
        raise TypeError(f"{field.name} is neither a strict field nor a nested object")
    return schema.load_at_once


def _without_more_than_is_told(data: Any, known: list[str]) -> Any:
    """An object without the unknown fields that no answer would name: a body has room for some 200,000 of them."""
    if not isinstance(data, dict) or len(cast("dict[str, Any]", data)) <= len(known) + FAULTS_AT_MOST:
        return data
    members = cast("dict[str, Any]", data)
    told = set(islice((name for name in members if name not in known), FAULTS_AT_MOST))
    return {name: value for name, value in members.items() if name in told or name in known}


# From refusals to faults

_LONGEST_STEP = 100
"""Characters of a field's name in a path: an unknown one may have any length."""


def faults_of(messages: Any) -> list[errors.Fault]:
    """The faults of a body, each with the path of its field, in the order of the fields.

    At most :data:`FAULTS_AT_MOST` are given.
    """
    found: list[errors.Fault] = []
    _collect(messages, (), found)
    return found[:FAULTS_AT_MOST]


def _collect(messages: Any, path: tuple[str, ...], found: list[errors.Fault]) -> None:
    if isinstance(messages, dict):
        for name, inner in cast("dict[Any, Any]", messages).items():
            if len(found) >= FAULTS_AT_MOST:
                return
            _collect(inner, path if name == "_schema" else (*path, str(name)[:_LONGEST_STEP]), found)
        return
    place = " -> ".join(path)
    for message in cast("list[Any]", messages):
        if isinstance(message, dict):
            _collect(message, path, found)
        elif isinstance(message, RefusedValue):
            found.append(errors.value_fault(place, message.value, message.reason))
        else:
            found.append(errors.shape_fault(f"{place}: {message}" if place else str(message)))
