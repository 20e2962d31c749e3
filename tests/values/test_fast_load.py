"""The fast load of bodies has the same results and refusals as marshmallow's own load."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError

from app.bulk import transfer
from app.resource import schemas
from app.values.json_fields import NestedObject, StrictField, StrictSchema
from app.values.strict_json import HugeNumber


def all_schemas(of: type[StrictSchema] = StrictSchema) -> Iterator[type[StrictSchema]]:
    for schema in of.__subclasses__():
        yield schema
        yield from all_schemas(schema)


def fields_of(schema: StrictSchema) -> dict[str, Any]:
    return {field.data_key or name: field for name, field in schema.fields.items()}


numbers = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.sampled_from([2**31, 2**63, -(2**63), 10**400, 0.5, -0.0, 3.0, HugeNumber("1e999")]),
)
scalars = st.one_of(
    numbers, st.booleans(), st.none(), st.sampled_from(["a", "key-1", "k", "\x00", "2020-01-01T00:00:00Z"])
)
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=3),
    st.lists(st.integers(0, 5), min_size=2, max_size=2),
    st.lists(st.dictionaries(st.sampled_from(["integerExample", "integerExampleInt32", "other"]), numbers, max_size=2)),
)


@st.composite
def bodies(draw: st.DrawFn, schema: StrictSchema) -> Any:
    """Objects with fields of the schema, sometimes an unknown field, and values of any JSON type."""
    known = fields_of(schema)
    names = draw(st.lists(st.sampled_from([*known] * 5 + ["other"]), unique=True)) if known else []
    if draw(st.booleans()):
        names = [*dict.fromkeys([*names, *(name for name, field in known.items() if field.required)])]
    body: dict[str, Any] = {}
    for name in names:
        field = known.get(name)
        nested: Any = field.schema if isinstance(field, NestedObject) else None
        if name == "actions":
            body[name] = draw(st.lists(st.one_of(*(bodies(schema) for schema in ACTIONS), values), max_size=2))
        elif name == "action":
            body[name] = draw(st.sampled_from([*schemas.ACTION_SCHEMAS, "unknown"]))
        else:
            body[name] = draw(values if nested is None else st.one_of(values, bodies(nested), bodies(nested)))
    return body


ACTIONS = [*schemas.ACTION_SCHEMAS.values()]
SCHEMAS = [
    *ACTIONS,
    schemas.ObjectTypeSchema(),
    schemas.ContainedObjectTypeSchema(),
    schemas.ResourceDraftSchema(),
    schemas.UpdateSchema(),
    schemas.ComplexRecordSchema(),
    transfer.LINE_SCHEMA,
]


def outcome(load: Any, body: Any) -> tuple[str, str]:
    try:
        loaded = load(body)
        # The order of a dictionary is ignored. repr distinguishes -0.0 from 0, and 3.0 from 3.
        return "loaded", repr(sorted(loaded.items()) if isinstance(loaded, dict) else loaded)
    except ValidationError as error:
        return "refused", repr(error.messages)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: type(schema).__name__)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_fast_load_has_the_result_of_marshmallow(schema: StrictSchema, data: st.DataObject) -> None:
    body = data.draw(st.one_of(bodies(schema), bodies(schema), values))
    known, expected = outcome(schema.load, body), outcome(partial(Schema.load, schema), body)
    # For an unknown field the fast load suggests the nearest name, marshmallow does not.
    assert known == expected or (known[0] == expected[0] == "refused" and "Unknown field." in expected[1])


def test_fast_load_of_a_valid_body_does_not_call_marshmallow(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("Schema.load of marshmallow was called")

    monkeypatch.setattr(Schema, "load", never)
    draft = schemas.ResourceDraftSchema().load(
        {"key": "key-1", "version": 3, "createdAt": None, "objectTypeProperty": {"arrayOfStringExample": ["a"]}}
    )
    assert draft.object_type.text == '{"arrayOfStringExample":["a"]}'
    assert draft.object_type.items("arrayOfStringExample") == ["a"]
    actions = [{"action": "changeSomeProperty", "someProperty": "x"}, {"action": "publish"}]
    assert len(schemas.UpdateSchema().load({"version": 1, "actions": actions}).actions) == 2


def test_all_schemas_have_only_fields_that_fast_load_supports() -> None:
    found = [schema for schema in all_schemas() if schema.__module__.startswith("app.")]
    assert len(found) >= 8
    for schema in found:
        for name, field in schema().fields.items():
            assert isinstance(field, StrictField | NestedObject), f"{schema.__name__}.{name}"
            assert not field.validators, f"{schema.__name__}.{name}"
