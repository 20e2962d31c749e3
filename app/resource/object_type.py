"""An ObjectType (interface 2.3) as a value: its canonical JSON text, and the items of its arrays."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from app.query.fields import OBJECT_TYPE
from app.values.strict_json import encode_arrays

_decode = msgspec.json.Decoder(dict[str, list[Any]]).decode


class ObjectType:
    """A valid ObjectType; two are equal if their texts are.

    :param text: compact JSON, the fields that are present in the order of :data:`app.query.fields.OBJECT_TYPE`. Answers
        contain it as it is, since a number has to come back as it was sent.
    """

    def __init__(self, text: str = "{}") -> None:
        self.text = text

    @classmethod
    def of(cls, fields: Mapping[str, list[Any]]) -> "ObjectType":
        """The ObjectType of fields that have been checked.

        :param fields: the items of each array; a field that is not among them is absent.
        """
        ordered = {name: fields[name] for name in OBJECT_TYPE if name in fields}
        made = cls(encode_arrays(ordered))
        made.__dict__["fields"] = ordered
        return made

    @cached_property
    def fields(self) -> Mapping[str, list[Any]]:
        """The items of each array that is present; decoded when they are first asked for."""
        return _decode(self.text)

    def items(self, name: str) -> Sequence[Any]:
        """The items of an array; none if the field is absent."""
        return self.fields.get(name, ())

    def with_items(self, name: str, items: Sequence[Any]) -> "ObjectType":
        """This ObjectType with other items in one of its arrays.

        :param items: have to be valid for the field.
        """
        return ObjectType.of({**self.fields, name: list(items)})

    def merged_with(self, sent: "ObjectType") -> "ObjectType":
        """This ObjectType with the fields of another one in place of its own."""
        return ObjectType.of({**self.fields, **sent.fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectType) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"ObjectType({self.text!r})"
