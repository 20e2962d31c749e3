"""Generates ObjectTypes from the service's table of fields."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from app.query.object_fields import OBJECT_FIELDS, ArrayField, ItemType

Values = Mapping[ItemType, st.SearchStrategy[Any]]
"""The strategies for the items of each type. Items of other types are those of the field's example."""


def object_types(values: Values, at_most: int | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """A strategy for ObjectTypes that the service accepts. Each has some of the fields.

    :param at_most: the most items of an array.
    """
    return st.fixed_dictionaries({}, optional={row.name: _items(row, values, at_most) for row in OBJECT_FIELDS})


def _items(row: ArrayField, values: Values, at_most: int | None) -> st.SearchStrategy[list[Any]]:
    if row.type is None:
        members = {name: values[member] for name, member in row.members.items()}
        item: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional=members)
    else:
        item = values[row.type] if row.type in values else st.sampled_from(row.example)
    return st.lists(item, unique=row.unique, min_size=row.length or 0, max_size=row.length or at_most)
