"""Generated ObjectTypes, with every field of the service's own table."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from app.query.object_fields import OBJECT_FIELDS, ArrayField, ItemType

Values = Mapping[ItemType, st.SearchStrategy[Any]]
"""What the items of each type are drawn from."""


def object_types(values: Values, at_most: int | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """ObjectTypes that the service accepts, with some of the fields.

    :param at_most: the most items of an array.
    """
    return st.fixed_dictionaries({}, optional={row.name: _items(row, values, at_most) for row in OBJECT_FIELDS})


def _items(row: ArrayField, values: Values, at_most: int | None) -> st.SearchStrategy[list[Any]]:
    if row.type is None:
        members = {member.name: values[member.type] for member in row.members}
        item: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional=members)
    else:
        item = values[row.type]
    return st.lists(item, unique=row.unique, min_size=row.length or 0, max_size=row.length or at_most)
