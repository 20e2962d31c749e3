"""The fields that predicates, filters, facets and ``sort`` name, and their values."""

from dataclasses import dataclass
from typing import Any

from .resources import Projection, Resource
from .values import milliseconds


@dataclass(frozen=True)
class Field:
    """A field.

    :param kind: ``text``, ``number``, ``time`` or ``object``.
    :param members: of an object, or of the elements of an array of objects.
    """

    kind: str
    is_array: bool = False
    members: "dict[str, Field] | None" = None


TEXT, NUMBER, TIME = Field("text"), Field("number"), Field("time")

CLIENT = Field("object", members={"typeId": TEXT, "id": TEXT})

OBJECT_TYPE = {
    "arrayOfIntExample": Field("number", is_array=True),
    "arrayOfUniqueIntExample": Field("number", is_array=True),
    "arrayOfTwonumbersExample": Field("number", is_array=True),
    "arrayOfFloatExample": Field("number", is_array=True),
    "arrayOfNumberNoDefaultsExample": Field("number", is_array=True),
    "arrayOfStringExample": Field("text", is_array=True),
    "arrayOfObjectType": Field("object", True, {"integerExample": NUMBER, "integerExampleInt32": NUMBER}),
}

FIELDS = {
    "id": TEXT,
    "key": TEXT,
    "version": NUMBER,
    "createdAt": TIME,
    "lastModifiedAt": TIME,
    "createdBy": CLIENT,
    "lastModifiedBy": CLIENT,
    "someProperty": TEXT,
    "objectTypeProperty": Field("object", members=OBJECT_TYPE),
    **OBJECT_TYPE,
}

SORTABLE = ("id", "key", "version", "createdAt", "lastModifiedAt", "someProperty")


def document(resource: Resource, *, staged: bool = False) -> dict[str, Any]:
    """A resource as an object with all fields; what is absent is left out, and times are milliseconds since 1970."""
    name = "staged" if staged else "current"
    if name not in resource.documents:
        resource.documents[name] = _document(resource, resource.staged if staged else resource.current)
    return resource.documents[name]


def _document(resource: Resource, projection: Projection) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": resource.id,
        "key": resource.key,
        "version": resource.version,
        "createdAt": milliseconds(resource.created_at),
        "lastModifiedAt": milliseconds(resource.modified_at),
        "createdBy": {"typeId": "api-client", "id": resource.created_by},
        "lastModifiedBy": {"typeId": "api-client", "id": resource.modified_by},
        "someProperty": projection.some_property,
        "objectTypeProperty": projection.fields,
        **projection.fields,
    }
    return {name: value for name, value in made.items() if value is not None}
