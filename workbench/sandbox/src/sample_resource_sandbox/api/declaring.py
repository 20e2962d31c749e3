"""Helpers to declare the routes: fields of bodies that check and describe, and a blueprint for the operations."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

from flask import request
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import Schema, ValidationError

from app import errors
from app.http.arguments import Blueprint, Endpoint
from app.http.bodies import read_body, read_json
from app.identity.scopes import public
from app.values.json_fields import (
    ARRAY_EXPECTED,
    BOOLEAN_EXPECTED,
    INTEGER_EXPECTED,
    NUMBER_EXPECTED,
    STRING_EXPECTED,
    Check,
    StrictField,
    check_boolean,
    check_int64,
    check_items,
    check_number,
    check_text,
    faults_of,
    refuse_value,
)
from app.values.suggestions import did_you_mean

AnyClass = TypeVar("AnyClass", bound=type[Endpoint])
AnyView = TypeVar("AnyView", bound=Callable[..., Any])


# Fields


def one_of(*words: str) -> Check:
    """Return a check for texts that are one of some words."""

    def check(value: Any) -> str:
        text = check_text(value)
        if text not in words:
            refuse_value(text, f"One of {', '.join(words)} is expected.{did_you_mean(text, words)}")
        return text

    return check


def between(minimum: float, maximum: float, check_type: Check = check_int64) -> Check:
    """Return a check for numbers within a range.

    :param check_type: the check of the type, which comes first; by default that of integers.
    """

    def check(value: Any) -> Any:
        number = check_type(value)
        if not minimum <= number <= maximum:
            refuse_value(number, f"A number from {minimum} to {maximum} is expected.")
        return number

    return check


def short(value: Any, at_most: int = 2000) -> str:
    """The check for texts of at most so many characters."""
    text = check_text(value)
    if len(text) > at_most:
        refuse_value(text, f"A text of at most {at_most} characters is expected.")
    return text


def field(
    check: Check, expected: str, meaning: str, *, required: bool = False, data_key: str | None = None, **schema: Any
) -> StrictField:
    """A field of a body with any check.

    :param expected: the message for ``null`` if the field is required.
    :param schema: the JSON Schema of its values.
    """
    described = {"description": meaning, **schema}
    return StrictField(check, expected, metadata=described, required=required, data_key=data_key)


def text(meaning: str, *, check: Check = short, **schema: Any) -> StrictField:
    """A field of a body that is a text."""
    return field(check, STRING_EXPECTED, meaning, type="string", **schema)


def choice(meaning: str, *words: str, **schema: Any) -> StrictField:
    """A field of a body that is one of some words."""
    return text(meaning, check=one_of(*words), enum=list(words), **schema)


def whole(meaning: str, minimum: int, maximum: int, **options: Any) -> StrictField:
    """A field of a body that is an integer."""
    check, bounds = between(minimum, maximum), {"minimum": minimum, "maximum": maximum}
    return field(check, INTEGER_EXPECTED, meaning, type="integer", **bounds, **options)


def number(meaning: str, minimum: float, maximum: float, **options: Any) -> StrictField:
    """A field of a body that is a number."""
    check, bounds = between(minimum, maximum, check_number), {"minimum": minimum, "maximum": maximum}
    return field(check, NUMBER_EXPECTED, meaning, type="number", **bounds, **options)


def boolean(meaning: str, **schema: Any) -> StrictField:
    """A field of a body that is ``true`` or ``false``."""
    return field(check_boolean, BOOLEAN_EXPECTED, meaning, type="boolean", **schema)


def words(meaning: str, *known: str) -> StrictField:
    """A field of a body that is an array of known words."""
    check, items = one_of(*known), {"type": "string", "enum": list(known)}
    return field(lambda value: check_items(value, check), ARRAY_EXPECTED, meaning, type="array", items=items)


# Routes


def ref(name: str) -> dict[str, str]:
    """A reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


class SandboxBlueprint(Blueprint):
    """A blueprint of operations with a name and a tag."""

    def at(self, path: str) -> Callable[[AnyClass], AnyClass]:
        """Decorate a view class to serve a path. All methods are public for the gate, because the guard checks the
        requests."""

        def register(view: AnyClass) -> AnyClass:
            for method in view.methods or ():
                public(getattr(view, method.lower()))
            return self.route(path)(view)

        return register

    def operation(
        self, id_: str, tag: str, answer: str | None = None, status: int = 200, content_type: str | None = None
    ) -> Callable[[AnyView], AnyView]:
        """Decorate a view to name its operation and its answer.

        :param answer: the name of the answer's schema in ``answers.json``; None for a 204.
        """
        schema: Any = None if answer is None else ref(answer)
        status = 204 if answer is None else status
        describe = self.response(status, schema, description="Done.", content_type=content_type)

        def decorate(view: AnyView) -> AnyView:
            return cast("AnyView", self.doc(operationId=id_, tags=[tag])(describe(view)))

        return decorate

    def takes(self, schema: Schema, example: Any, *, optional: bool = True) -> Callable[[AnyView], AnyView]:
        """Decorate a view to get the body, loaded by a schema.

        :param optional: whether a missing body means ``{}``.
        """
        describe: Any = SmorestBlueprint.arguments(
            self, schema, location="json", required=not optional, example=example
        )

        def decorate(view: AnyView) -> AnyView:
            cast(Any, view)._apidoc = describe(view)._apidoc
            return self.loads("json", partial(_load, schema, optional))(view)

        return decorate


def _load(schema: Schema, optional: bool) -> Any:
    body: Any = {} if optional and not read_body(request) else read_json(request)
    try:
        return schema.load(body)
    except ValidationError as error:
        raise errors.ApiError(faults_of(error.messages)) from None
