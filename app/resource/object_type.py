"""An ObjectType (interface 2.3) as a value: its canonical JSON text, and the items of its arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from app.query.fields import OBJECT_TYPE
from app.values.strict_json import encode

_divide = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


OBJECT_TYPE_BYTES_AT_MOST = 64 * 1024
"""The most bytes of the text of an ObjectType."""


@dataclass(frozen=True)
class ObjectType:
    """A valid ObjectType. Two ObjectTypes are equal if their texts are equal.

    :param text: compact JSON, with the fields in the order of :data:`app.query.fields.OBJECT_TYPE`. Answers contain
        this text and not a jsonb of it, which would lose the sign of -0.0 and write 1e-300 with 300 zeros.
    """

    text: str = "{}"

    @classmethod
    def of(cls, fields: Mapping[str, list[Any]]) -> "ObjectType":
        """Make an ObjectType from fields whose values have been checked.

        :param fields: the items of each array that is present, by the name of the field.
        """
        return cls(encode({name: fields[name] for name in OBJECT_TYPE if name in fields}))

    @property
    def size(self) -> int:
        """The bytes of the text in UTF-8."""
        return len(self.text) if self.text.isascii() else len(self.text.encode())

    @cached_property
    def arrays(self) -> Mapping[str, msgspec.Raw]:
        """The JSON text of each array that is present, by the name of its field. The items are not decoded."""
        return _divide(self.text)

    def merged_with(self, sent: "ObjectType") -> "ObjectType":
        """This ObjectType with the fields of ``sent`` added. They replace fields with the same names."""
        # dict.fromkeys puts the names of OBJECT_TYPE in order, each with None. A name that neither ObjectType has keeps
        # its None, and is dropped below. A name that OBJECT_TYPE does not have comes last, and is kept: during an
        # upgrade, a worker of a newer release may have stored it.
        arrays = {**dict.fromkeys(OBJECT_TYPE), **self.arrays, **sent.arrays}
        ordered = [f'"{name}":{bytes(array).decode()}' for name, array in arrays.items() if array is not None]
        return ObjectType(f"{{{','.join(ordered)}}}")
