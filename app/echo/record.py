"""The schemas of the complex body record and of the query parameters of the echo endpoints (interface 2.4, 4.9 and
4.13)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.values.json_fields import NestedObject, StrictField, StrictSchema, Text, Timestamp, check_json
from app.values.parameters import NumberParameter, Parameter, QuerySchema

UNTYPED = (
    "id",
    "version",
    "key",
    "custom",
    "eigthProperty",
    "ninthProperty",
    "tenthProperty",
    "eleventhPropery",
    "twelthProperty",
    "thirteenthProperty",
    "fourteenthProperty",
    "fifteenthProperty",
)
"""The fields of the record whose types the interface does not show, in the order and the spelling of the interface."""


@dataclass(frozen=True, slots=True)
class ComplexRecord:
    """A checked complex body record (interface 2.4)."""

    untyped: Mapping[str, Any]
    """The sent fields of :data:`UNTYPED` that are not null, in the order of that tuple. Their values are any JSON
    values."""
    created_at: datetime | None
    last_modified_at: datetime | None
    names: tuple[str, ...]
    """The sent first and last names, first those of createdBy, then those of lastModifiedBy."""


class PersonSchema(StrictSchema):
    """The schema of ``createdBy`` and ``lastModifiedBy`` of the complex record."""

    firstName = Text(stored=False)
    lastName = Text(stored=False)


def _any_json() -> StrictField:
    """A field whose type the interface does not show. Any JSON value is accepted, and kept as it was sent."""
    return StrictField(check_json, "", metadata={"description": "any JSON value"})


class ComplexRecordSchema(StrictSchema.from_dict({name: _any_json() for name in UNTYPED})):
    """The schema of the complex body record (interface 2.4). Every field is optional."""

    createdAt = Timestamp()
    lastModifiedAt = Timestamp()
    createdBy = NestedObject(PersonSchema)
    lastModifiedBy = NestedObject(PersonSchema)

    def make(self, data: dict[str, Any]) -> ComplexRecord:
        persons: list[dict[str, str]] = [data.get(name, {}) for name in ("createdBy", "lastModifiedBy")]
        return ComplexRecord(
            untyped={name: data[name] for name in UNTYPED if name in data},
            created_at=data.get("createdAt"),
            last_modified_at=data.get("lastModifiedAt"),
            names=tuple(person[part] for person in persons for part in ("firstName", "lastName") if part in person),
        )


@dataclass(frozen=True, slots=True)
class EchoQuery:
    """The loaded parameters of the echo endpoints (interface 4.9 and 4.13)."""

    one: int | float | None = None
    two: str | None = None


class EchoQuerySchema(QuerySchema):
    """The schema of the query parameters ``queryParameterOne`` and ``queryParameterTwo``."""

    one = NumberParameter(data_key="queryParameterOne", meaning="any number", example=0.5)
    # Any text: the query string is UTF-8, and the text is not stored.
    two = Parameter(str, {"type": "string"}, data_key="queryParameterTwo", meaning="any text", example="any text")

    def make(self, values: dict[str, Any]) -> EchoQuery:
        return EchoQuery(**values)
