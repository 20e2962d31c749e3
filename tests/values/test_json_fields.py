"""Bodies as their schemas load them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import pytest
from marshmallow import Schema, ValidationError, fields

from app import echo
from app.resource import schemas
from app.values.json_fields import Boolean, NestedObject, Number, ReadOnly, StrictField, StrictSchema, Text, check_json
from app.values.parameters import Parameter, QuerySchema

SCHEMAS = [
    *schemas.ACTION_SCHEMAS.values(),
    schemas.ObjectTypeSchema(),
    schemas.ResourceDraftSchema(),
    schemas.UpdateSchema(),
    echo.PersonSchema(),
    echo.ComplexRecordSchema(),
]


def messages(schema: Schema, body: Any) -> Any:
    with pytest.raises(ValidationError) as refused:
        schema.load(body)
    return refused.value.messages


def refused(declare: Callable[[], Any], reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        declare()


def below(schema: type[Schema]) -> Iterator[type[Schema]]:
    """All classes that inherit from a schema."""
    for each in schema.__subclasses__():
        yield each
        yield from below(each)


def test_no_schema_has_hooks_of_marshmallow_which_no_load_calls() -> None:
    schemas = [*below(StrictSchema), *below(QuerySchema)]
    assert len(schemas) > 10
    assert [schema for schema in schemas if any(schema.resolve_hooks().values())] == []


def test_what_a_load_does_not_look_at_is_an_error_when_it_is_declared() -> None:
    class Plain(Schema):
        name = fields.String()

    options = ("validate", "load_default", "allow_none", "attribute", "pre_load", "post_load", "dump_only")
    for option in options:
        given: dict[str, Any] = {option: None}
        for declare in (Text, Number, Boolean, ReadOnly):
            refused(partial(declare, **given), option)
        refused(partial(StrictField, check_json, "", **given), option)
        refused(partial(NestedObject, echo.PersonSchema, **given), option)
        refused(partial(Parameter, str, {}, **given), option)
    refused(partial(NestedObject, Plain), "Plain is no strict schema")
    refused(StrictSchema.from_dict({"name": fields.String()}), "name is neither a strict field nor a nested object")
    refused(partial(cast(Any, schemas.ObjectTypeSchema), many=True), "many")
    for schema in (schemas.ObjectTypeSchema, QuerySchema):
        refused(partial(cast(Any, schema)().load, {}, partial=True), "partial")


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: type(schema).__name__)
def test_null_is_as_if_absent_for_every_optional_field_and_refused_for_every_required_one(schema: StrictSchema) -> None:
    required = {field.data_key or name: field for name, field in schema.fields.items() if field.required}
    optional = [field.data_key or name for name, field in schema.fields.items() if not field.required]
    nulls: dict[str, Any] = dict.fromkeys(optional)
    if required:
        assert messages(schema, nulls) == {name: ["Missing required value."] for name in required}
        refused = messages(schema, nulls | dict.fromkeys(required))
        assert refused == {name: [field.error_messages["null"]] for name, field in required.items()}
    else:
        # An ObjectType and a record are values, equal if their contents are.
        assert schema.load(nulls) == schema.load({})


@pytest.mark.parametrize("body", [None, [], "text", 5, True])
def test_what_is_no_object_is_refused(body: Any) -> None:
    assert messages(schemas.ResourceDraftSchema(), body) == ["JSON object expected."]


def test_a_load_tells_of_all_faults_in_the_order_of_the_fields_and_of_unknown_names_last() -> None:
    body = {
        "keys": 1,
        "objectTypeProperty": {"arrayOfIntExample": [None]},
        "key": 5,
        "id": [],
        "verzion": 1,
        "VERSION": 1,
        "nobody": None,
    }
    refused = messages(schemas.ResourceDraftSchema(), body)
    assert list(refused) == ["id", "key", "objectTypeProperty", "keys", "verzion", "VERSION"]
    assert refused["keys"] == ["Unknown field. Did you mean 'key'?"]
    assert refused["verzion"] == ["Unknown field. Did you mean 'version'?"]
    assert refused["VERSION"] == ["Unknown field. Did you mean 'version'?"]


def test_a_negative_zero_is_the_integer_zero() -> None:
    loaded: Any = schemas.ObjectTypeSchema().load({"arrayOfIntExample": [-0.0]})
    assert loaded.text == '{"arrayOfIntExample":[0]}'
    for repeated in ([0, -0.0], [-0.0, 0]):
        assert list(messages(schemas.ObjectTypeSchema(), {"arrayOfUniqueIntExample": repeated})) != []


def test_a_name_of_a_person_is_a_text() -> None:
    assert messages(echo.PersonSchema(), {"firstName": 5}) == {"firstName": ["JSON String expected."]}


def test_of_very_many_unknown_fields_some_are_told() -> None:
    assert len(messages(schemas.ObjectTypeSchema(), {f"field{number}": 1 for number in range(10_000)})) == 50


def test_marshmallow_does_not_load_bodies_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Schema, "load")
    draft = schemas.ResourceDraftSchema().load(
        {"key": "key-1", "version": 3, "createdAt": None, "objectTypeProperty": {"arrayOfStringExample": ["a"]}}
    )
    assert draft.object_type.text == '{"arrayOfStringExample":["a"]}'
