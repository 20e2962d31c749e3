"""An ObjectType (interface 2.3) as a value: its canonical JSON text, which answers contain as it is.

Text and not decoded values, since a number has to come back as it was sent, and since most writes look at few fields.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from app.query.fields import OBJECT_TYPE
from app.values.strict_json import encode_arrays

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A valid ObjectType.

    :param text: compact JSON, the fields that are present in the order of :data:`app.query.fields.OBJECT_TYPE`, so that
        equal ObjectTypes have equal texts.
    """

    text: str = "{}"

    @classmethod
    def of(cls, fields: Mapping[str, Sequence[Any]]) -> "ObjectType":
        """The ObjectType of fields that have been checked.

        :param fields: the items of each array; a field that is not among them is absent.
        """
        return cls(encode_arrays({name: fields[name] for name in OBJECT_TYPE if name in fields}))

    def members(self) -> dict[str, str]:
        """The JSON text of each field that is present. No array is decoded."""
        return {name: bytes(text).decode() for name, text in _MEMBERS.decode(self.text).items()}

    def items(self, name: str) -> list[Any]:
        """The items of an array; none if the field is absent."""
        return decoded(self.members().get(name, "[]"))

    def with_items(self, name: str, items: Iterable[Any]) -> "ObjectType":
        """This ObjectType with other items in one of its arrays.

        :param items: have to be valid for the field.
        """
        return self.merged_with(ObjectType.of({name: list(items)}))

    def merged_with(self, sent: "ObjectType") -> "ObjectType":
        """This ObjectType with the fields of another one in place of its own."""
        members = self.members() | sent.members()
        listed = ",".join([f'"{name}":{members[name]}' for name in OBJECT_TYPE if name in members])
        return ObjectType(f"{{{listed}}}")


decoded = msgspec.json.Decoder().decode
"""The items of an array, from its canonical JSON text."""
