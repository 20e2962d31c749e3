"""What the load of bodies relies on in marshmallow.

``StrictSchema.load`` in ``app/values/json_fields.py`` does the work of ``Schema.load``, from what marshmallow makes of
the declared fields. A failure means that an upgrade has changed that.
"""

import inspect

from marshmallow import Schema, fields, missing

LOOK_AT = "StrictSchema in app/values/json_fields.py has to be adapted"


def test_load_has_the_options_that_no_caller_gives() -> None:
    parameters = inspect.signature(Schema.load).parameters
    assert list(parameters) == ["self", "data", "many", "partial", "unknown"], LOOK_AT


def test_fields_have_the_attributes_that_are_read() -> None:
    plain = fields.Field[object]()
    assert (plain.data_key, plain.attribute, plain.required) == (None, None, False), LOOK_AT
    assert plain.load_default is missing, LOOK_AT
    named = fields.Field[object](data_key="public", attribute="private", required=True)
    assert (named.data_key, named.attribute, named.required) == ("public", "private", True), LOOK_AT
    assert fields.Field[object](error_messages={"null": "none"}).error_messages["null"] == "none", LOOK_AT


def test_a_nested_field_has_the_schema_of_its_object() -> None:
    class Inner(Schema):
        name = fields.String()

    assert isinstance(fields.Nested(Inner).schema, Inner), LOOK_AT
