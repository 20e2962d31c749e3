"""What ``Blueprint.arguments`` in ``app/http/arguments.py`` relies on in flask-smorest."""

import inspect
from typing import Any

from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import Schema, fields

LOOK_AT = "Blueprint.arguments in app/http/arguments.py has to be adapted"


class _Names(Schema):
    name = fields.String()


def test_arguments_describes_a_view_by_an_attribute_of_its_wrapper() -> None:
    parameters = inspect.signature(SmorestBlueprint.arguments).parameters
    assert list(parameters)[:2] == ["self", "schema"], LOOK_AT
    assert parameters["location"].kind is inspect.Parameter.KEYWORD_ONLY, LOOK_AT
    blueprint = SmorestBlueprint("upstream", __name__)

    def view() -> None: ...

    described: Any = blueprint.arguments(_Names(), location="query")(view)
    described = blueprint.arguments(_Names(), location="json")(described)
    found = described._apidoc["arguments"]["parameters"]
    assert [(part["in"], type(part["schema"])) for part in found] == [("query", _Names), ("json", _Names)], LOOK_AT
