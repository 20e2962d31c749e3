"""What the fast load of bodies relies on in marshmallow.

``StrictSchema.fast_load`` in ``app/values/json_fields.py`` does the work of ``Schema.load`` for bodies without faults.
``test_fast_load.py`` compares the results of both; here are the attributes that the fast load reads. A failure means
that an upgrade has changed them: compare ``StrictSchema`` with marshmallow's ``Schema._deserialize``.
"""

import inspect

from marshmallow import Schema, fields, missing, post_load

LOOK_AT = "StrictSchema in app/values/json_fields.py has to be adapted"


def test_load_has_the_options_that_are_not_loaded_fast() -> None:
    parameters = inspect.signature(Schema.load).parameters
    assert list(parameters) == ["self", "data", "many", "partial", "unknown"], LOOK_AT


def test_fields_have_the_attributes_that_the_fast_load_reads() -> None:
    plain = fields.Field[object]()
    assert (plain.data_key, plain.attribute, plain.required) == (None, None, False), LOOK_AT
    assert plain.load_default is missing, LOOK_AT
    assert plain.allow_none is False, LOOK_AT
    named = fields.Field[object](data_key="public", attribute="private", required=True, allow_none=True)
    assert (named.data_key, named.attribute, named.required, named.allow_none) == ("public", "private", True, True)


def test_a_nested_field_has_the_schema_of_its_object() -> None:
    class Inner(Schema):
        name = fields.String()

    assert isinstance(fields.Nested(Inner).schema, Inner), LOOK_AT


def test_a_load_uses_the_names_of_data_keys_and_attributes_and_then_the_hook() -> None:
    class Outer(Schema):
        inner = fields.Integer(data_key="outer", attribute="kept")

        @post_load
        def make(self, data: dict[str, int], **_: object) -> tuple[str, int]:
            return next(iter(data.items()))

    assert Outer().load({"outer": 1}) == ("kept", 1), LOOK_AT
