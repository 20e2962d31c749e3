"""What the load of bodies relies on in marshmallow.

``StrictSchema.load`` in ``app/values/json_fields.py`` does the work of ``Schema.load``, from what marshmallow makes of
the declared fields. A failure means that an upgrade has changed that.
"""

from marshmallow import Schema, fields, post_load

LOOK_AT = "StrictSchema in app/values/json_fields.py has to be adapted"


def test_fields_have_the_attributes_that_are_read() -> None:
    plain = fields.Field[object]()
    assert (plain.data_key, plain.required) == (None, False), LOOK_AT
    named = fields.Field[object](data_key="public", required=True)
    assert (named.data_key, named.required) == ("public", True), LOOK_AT
    assert fields.Field[object](error_messages={"null": "none"}).error_messages["null"] == "none", LOOK_AT


def test_a_schema_names_its_hooks() -> None:
    class Hooked(Schema):
        @post_load
        def changed(self, data: object, **_: object) -> object:
            return data

    assert any(Hooked.resolve_hooks().values()), LOOK_AT
    assert not any(Schema.resolve_hooks().values()), LOOK_AT
