"""Bodies of the resource's requests: marshmallow schemas that load JSON into frozen values."""

from dataclasses import dataclass
from typing import Any, cast

from marshmallow import ValidationError

from app import errors
from app.query.object_fields import OBJECT_FIELDS, ArrayField
from app.resource.actions import REGISTRY, UpdateAction
from app.resource.model import KEY_PATTERN, WRAPPER
from app.resource.object_type import OBJECT_TYPE_BYTES_AT_MOST, ObjectType
from app.values.json_fields import (
    ARRAY_EXPECTED,
    MISSING,
    OBJECT_EXPECTED,
    STRING_EXPECTED,
    NestedObject,
    Number,
    ReadOnly,
    RefusedValue,
    StrictField,
    StrictSchema,
    Text,
    check_items,
    object_check,
    refuse_shape,
    refuse_value,
)

ACTIONS_AT_MOST = 500
"""The most update actions of one request, as on the platform."""

KEY_REASON = (
    "Keys may only contain alphanumeric characters, underscores and hyphens"
    " and must have a length of 2 to 256 characters."
)


def _array(row: ArrayField) -> StrictField:
    """Make the marshmallow field for one of the fields of ObjectType, all of which are arrays. It checks the array in a
    body; its metadata are the JSON Schema of the array for the OpenAPI document.

    :param row: the row of the field in :mod:`app.query.object_fields`. The items of the array are scalars of
        ``row.type``, or objects with ``row.members``.
    """
    if row.type is not None:
        check_item, item_schema = row.type.check, dict(row.type.json_schema)
    else:
        check_item = object_check({name: member.check for name, member in row.members.items()})
        item_schema = {
            "type": "object",
            "properties": {name: dict(member.json_schema) for name, member in row.members.items()},
            "additionalProperties": False,
        }

    def check(value: Any) -> list[Any]:
        """The check for the array: its items, their number, and that none is repeated."""
        items = check_items(value, check_item)
        if row.length is not None and len(items) != row.length:
            refuse_value(value, f"An array of {row.length} items is expected, not of {len(items)}.")
        if row.unique:
            _refuse_repeats(items)
        return items

    metadata: dict[str, Any] = {"type": "array", "items": item_schema}
    if row.unique:
        metadata["uniqueItems"] = True
    if row.length is not None:
        metadata |= {"minItems": row.length, "maxItems": row.length}
    return StrictField(check, ARRAY_EXPECTED, metadata=metadata)


def _refuse_repeats(items: list[Any]) -> None:
    """Refuse the first item that equals an earlier one."""
    if len(set(items)) == len(items):
        return
    seen: set[Any] = set()
    for position, item in enumerate(items):
        if item in seen:
            refused = RefusedValue(item, "The items of this array are unique, and this one stands in it already.")
            raise ValidationError(cast(Any, {position: [refused]}))
        seen.add(item)


class ObjectTypeSchema(StrictSchema.from_dict({row.name: _array(row) for row in OBJECT_FIELDS})):
    """The schema of ObjectType (interface 2.3): every field is optional."""

    def make(self, data: dict[str, Any]) -> ObjectType:
        """Make the ObjectType. Refuse it if the text to be stored has more than :data:`OBJECT_TYPE_BYTES_AT_MOST`
        bytes. The limit of the body is not enough, because the stored text can be longer than the text in the body.
        For example, 1e18 is stored with 19 digits.

        :raises ValidationError: if the text is too large.
        """
        made = ObjectType.of(data)
        if made.size > OBJECT_TYPE_BYTES_AT_MOST:
            # The answer repeats the value of a RefusedValue, and this value is huge. So the message is a Fault, which
            # repeats no value. faults_of (app.values.json_fields) adds no path to a Fault, so the path (WRAPPER) is
            # given here.
            raise ValidationError(cast(Any, [errors.size_fault(WRAPPER, made.size, OBJECT_TYPE_BYTES_AT_MOST)]))
        return made


@dataclass(frozen=True, slots=True)
class ResourceDraft:
    """The body of POST, PUT and PATCH on the collection (interface 4.6 to 4.8)."""

    object_type: ObjectType
    id: str | None = None
    key: str | None = None
    version: int | float | None = None
    some_property: str | None = None


EXPECTED_VERSION = {
    "type": "integer",
    "format": "int64",
    "description": "the version that the client expects; any other number is a conflict; a creation ignores it",
}
"""How the OpenAPI document describes ``version`` in a body. As the interface says, the service takes any number: every
double, and integers of up to 4,300 digits."""


class ResourceDraftSchema(StrictSchema):
    """The schema of a :class:`ResourceDraft`. Fields that only the server sets are accepted and ignored."""

    id = Text()
    version = Number(metadata=EXPECTED_VERSION)
    key = Text(pattern=KEY_PATTERN, reason=KEY_REASON)
    object_type = NestedObject(ObjectTypeSchema, required=True, data_key=WRAPPER)
    created_at = ReadOnly(data_key="createdAt")
    last_modified_at = ReadOnly(data_key="lastModifiedAt")
    created_by = ReadOnly(data_key="createdBy")
    last_modified_by = ReadOnly(data_key="lastModifiedBy")
    some_property = Text(data_key="someProperty")

    def make(self, data: dict[str, Any]) -> ResourceDraft:
        return ResourceDraft(
            data["object_type"], data.get("id"), data.get("key"), data.get("version"), data.get("some_property")
        )


@dataclass(frozen=True, slots=True)
class Update:
    """The body of update by id (interface 4.10)."""

    version: int | float
    actions: tuple[UpdateAction, ...]


def _action_schema(action: type[UpdateAction]) -> StrictSchema:
    """The schema of an update action: its discriminator and its fields."""
    members: dict[str, Any] = {"action": Text(required=True), **action.FIELDS}
    schema = cast("type[StrictSchema]", StrictSchema.from_dict(members, name=f"{action.__name__}Schema"))
    return schema()


ACTION_SCHEMAS: dict[str, StrictSchema] = {name: _action_schema(action) for name, action in REGISTRY.items()}
"""The schema of each action, by the value of its field ``action``."""


def _check_action(value: Any) -> UpdateAction:
    """Check an update action, and make its :class:`UpdateAction`. The value of the field ``action`` decides which other
    fields are allowed.

    :raises ValidationError: if the update action, or one of its fields, is refused.
    """
    if not isinstance(value, dict):
        refuse_shape(OBJECT_EXPECTED)
    given = cast("dict[str, Any]", value)
    name = given.get("action")
    if not isinstance(name, str):
        raise ValidationError(cast(Any, {"action": [STRING_EXPECTED if "action" in given else MISSING]}))
    if name not in REGISTRY:
        known = ", ".join(f"'{each}'" for each in REGISTRY)
        # The name decides which fields the action has, so an unknown name is a fault of the structure, and its error
        # code is InvalidJsonInput. faults_of (app.values.json_fields) gives this code to a message that is a text. With
        # refuse_value the error code would be InvalidField.
        raise ValidationError(cast(Any, {"action": [f"Invalid enum value. Expected one of: {known}"]}))
    parameters: dict[str, Any] = ACTION_SCHEMAS[name].load(given)
    del parameters["action"]
    return REGISTRY[name](**parameters)


def _check_actions(value: Any) -> tuple[UpdateAction, ...]:
    """The check for the array of update actions. It refuses an array with too many actions before it checks any of
    them."""
    if isinstance(value, list):
        count = len(cast("list[Any]", value))
        if count > ACTIONS_AT_MOST:
            # The error repeats the value that refuse_value gets. That is the number of actions here, and not the array,
            # which may be huge.
            refuse_value(count, f"At most {ACTIONS_AT_MOST} update actions are accepted in one request.")
    return tuple(check_items(value, _check_action))


class UpdateSchema(StrictSchema):
    """The schema of an :class:`Update`: ``version`` and ``actions``, both required."""

    version = Number(required=True, metadata=EXPECTED_VERSION)
    actions = StrictField(_check_actions, ARRAY_EXPECTED, required=True)

    def make(self, data: dict[str, Any]) -> Update:
        return Update(data["version"], data["actions"])
