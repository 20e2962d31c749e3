"""Helpers to declare the routes: fields that check and describe, and a blueprint for bodies that may be absent."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar, cast

from flask import request
from flask_smorest import Api
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import INCLUDE, Schema, ValidationError, fields

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


# Fields of orders


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


def text(meaning: str = "", *, at_most: int = 2000, check: Check = check_text, **schema: Any) -> StrictField:
    """A field of an order that is a text."""

    def checked(value: Any) -> Any:
        found = check(value)
        if len(found) > at_most:
            refuse_value(found, f"A text of at most {at_most} characters is expected.")
        return found

    return StrictField(checked, STRING_EXPECTED, metadata=_described("string", meaning, schema))


def choice(meaning: str, *words: str, **arguments: Any) -> StrictField:
    """A field of an order that is one of some words."""
    metadata = _described("string", meaning, {"enum": list(words)} | arguments.pop("schema", {}))
    return StrictField(one_of(*words), STRING_EXPECTED, metadata=metadata, **arguments)


def whole(meaning: str, minimum: int, maximum: int, *, required: bool = False, **schema: Any) -> StrictField:
    """A field of an order that is an integer."""
    metadata = _described("integer", meaning, {"minimum": minimum, "maximum": maximum, **schema})
    return StrictField(between(minimum, maximum), INTEGER_EXPECTED, metadata=metadata, required=required)


def number(meaning: str, minimum: float, maximum: float, *, required: bool = False) -> StrictField:
    """A field of an order that is a number."""
    metadata = _described("number", meaning, {"minimum": minimum, "maximum": maximum})
    return StrictField(between(minimum, maximum, check_number), NUMBER_EXPECTED, metadata=metadata, required=required)


def boolean(meaning: str, **schema: Any) -> StrictField:
    """A field of an order that is ``true`` or ``false``."""
    return StrictField(check_boolean, BOOLEAN_EXPECTED, metadata=_described("boolean", meaning, schema))


def anything(check: Check, expected: str, meaning: str, *, required: bool = False, **schema: Any) -> StrictField:
    """A field of an order with any check."""
    return StrictField(check, expected, metadata={"description": meaning, **schema}, required=required)


def items(check: Check, meaning: str, *, required: bool = False, **schema: Any) -> StrictField:
    """A field of an order that is an array with a check for each item."""
    metadata = _described("array", meaning, schema)
    return StrictField(lambda value: check_items(value, check), ARRAY_EXPECTED, metadata=metadata, required=required)


def _described(type_: str, meaning: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": type_, **({"description": meaning} if meaning else {}), **schema}


# Fields of answers


def said(type_: str | Iterable[str] = "string", meaning: str = "", *, is_required: bool = True, **schema: Any) -> Any:
    """A member of an answer."""
    types = type_ if isinstance(type_, str) else list(type_)
    return fields.Raw(required=is_required, metadata=_described(cast(Any, types), meaning, schema))


class _Open(Schema):
    class Meta:
        unknown = INCLUDE


def answer(name: str, members: str = "", *, is_open: bool = False, **described: Any) -> type[Schema]:
    """Make the schema of an answer.

    :param members: the members, separated by blanks: ``name``, ``name:type`` or ``name:format``, with a question mark
        if the member may be missing.
    :param is_open: whether the answer has further members.
    :param described: members that need a field. They follow the other members.
    """
    made: dict[str, Any] = {}
    for each in members.split():
        member, _, kind = each.removesuffix("?").partition(":")
        is_type = kind in ("integer", "boolean", "object")
        more = {"format": kind} if kind and not is_type else {}
        made[member] = said(kind if is_type else "string", is_required=not each.endswith("?"), **more)
    return (_Open if is_open else Schema).from_dict(made | described, name=f"{name}Schema")


def ref(name: str) -> dict[str, str]:
    """A reference to another schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def object_of(*names: str, **properties: Any) -> dict[str, Any]:
    """The schema of an object with the named members.

    :param properties: members that have a schema.
    """
    return {"type": "object", "required": list(names), "properties": {**{name: {} for name in names}, **properties}}


def several(name: str, meaning: str = "") -> Any:
    """A member of an answer that is an array of another schema."""
    return said("array", meaning, items=ref(name))


# Routes


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
        self,
        id_: str,
        tag: str,
        answer: type[Schema] | dict[str, Any] | None = None,
        status: int = 0,
        content_type: str | None = None,
    ) -> Callable[[AnyView], AnyView]:
        """Decorate a view to name its operation and its answer.

        :param answer: the schema of the answer; None for a 204.
        """
        status = status or (204 if answer is None else 200)
        describe = self.response(status, cast(Any, answer), description="Done.", content_type=content_type)

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
    is_absent = optional and not read_body(request)
    body: Any = {} if is_absent else read_json(request)
    try:
        return schema.load(body)
    except ValidationError as error:
        raise errors.ApiError(faults_of(error.messages)) from None


def register_all(api: Api, schemas: Iterable[type[Schema]]) -> None:
    """Register, under their names in the document, the schemas to which other schemas refer."""
    for schema in schemas:
        cast(Any, api.spec).components.schema(schema.__name__.removesuffix("Schema"), schema=schema)
