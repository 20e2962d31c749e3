"""Explains a read: the tree that was parsed from its query, and which index serves each condition.

If that is asked for, it is executed too, and the journal does not show it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl

from werkzeug.datastructures import MultiDict

from app import errors
from app.database.connection import Connection
from app.database.pool import Database
from app.query.fields import FieldType, Stage
from app.query.predicate.ast import AllOf, AnyOf, Condition, Contains, HasElement, Holds
from app.resource.model import Search
from app.resource.params import FilteredListSchema, ListQuery, SortedListSchema
from app.resource.reading import reads
from app.resource.reading.lanes import is_served_by_index, lane_of_list, lane_of_search
from app.resource.searching.search_params import SearchSchema
from app.resource.searching.searches import search

_LISTS: Mapping[str, tuple[Any, Callable[[Connection, str, ListQuery], object]]] = {
    "listResources": (
        FilteredListSchema(),
        lambda connection, key, query: reads.flat_page(connection, key, query.condition, query.paging),
    ),
    "checkResources": (
        FilteredListSchema(),
        lambda connection, key, query: reads.exists(connection, key, query.condition),
    ),
    "listResourcesSorted": (
        SortedListSchema(),
        lambda connection, key, query: reads.page(connection, key, query.condition, query.paging, query.expanded),
    ),
}
_SEARCHES = ("searchResources", "searchProductProjections")
_SEARCH_SCHEMA = SearchSchema()

OPERATIONS = (*_LISTS, *_SEARCHES)
"""The operations that can be explained: those that ask for resources by conditions."""

INDEX_OF_FIELD: Mapping[str, str] = {
    "id": "resource_pkey",
    "key": "resource_key",
    "version": "resource_version",
    "createdAt": "resource_created_at",
    "lastModifiedAt": "resource_last_modified_at",
    "someProperty": "resource_some_property_beginning",
}
"""The index that serves a comparison of a field in the current projection."""

DOCUMENT_INDEX = {Stage.CURRENT: "resource_object", Stage.STAGED: "resource_staged_object"}
WORDS_INDEX = {Stage.CURRENT: "resource_words", Stage.STAGED: "resource_staged_words"}


_Read = Callable[[Connection], object]


def explain(
    database: Database, project_key: str, operation_id: str, query: str, *, execute: bool = False
) -> dict[str, Any]:
    """What the read would do. If it is executed, it is admitted as the read itself, to the lane of what it asks.

    :param query: the query string, percent-encoded.
    :param execute: whether its answer is wanted too.
    :raises ApiError: 400 as the read itself would; a fault that has a place in an expression has its ``parameter``,
        ``line`` and ``column``.
    """
    try:
        return _explained(database, project_key, operation_id, query, execute=execute)
    except errors.ApiError as error:
        raise errors.ApiError([_with_place(fault) for fault in error.faults], error.headers, error.status) from None


_PLACE = re.compile(r"Malformed parameter: ([^:]+): .*\(line ([0-9]+), column ([0-9]+)\)", re.DOTALL)


def _with_place(fault: errors.Fault) -> errors.Fault:
    """A fault with the place that its message names (:mod:`app.query.language`)."""
    found = _PLACE.match(fault.message)
    if found is None:
        return fault
    place = {"parameter": found[1], "line": int(found[2]), "column": int(found[3])}
    return errors.Fault(fault.code, fault.message, {**fault.extra, **place})


def _explained(database: Database, project_key: str, operation_id: str, query: str, *, execute: bool) -> dict[str, Any]:
    try:
        pairs = MultiDict(parse_qsl(query.removeprefix("?"), keep_blank_values=True, errors="strict"))
    except ValueError:
        raise errors.invalid_parameter("query", "A query string in UTF-8 is expected.") from None
    if operation_id in _LISTS:
        schema, list_ = _LISTS[operation_id]
        loaded: ListQuery = schema.load(pairs)
        condition = loaded.condition
        tree = None if condition is None else _tree(condition)
        conditions = [] if condition is None else list(_served(condition, Stage.CURRENT))
        lane = lane_of_list(condition, None if operation_id == "checkResources" else loaded.paging)
        read: _Read = lambda connection: list_(connection, project_key, loaded)  # noqa: E731 -- a name for its type
    else:
        asked: Search = _SEARCH_SCHEMA.load(pairs)
        tree, conditions = _of_search(asked)
        lane = lane_of_search(asked)
        read = lambda connection: search(connection, project_key, asked).json  # noqa: E731 -- likewise
    explained: dict[str, Any] = {"operationId": operation_id, "tree": tree, "conditions": conditions}
    if execute:
        with database.connection(project_key, lane) as connection:
            found = read(connection)
        explained["answer"] = json.loads(found) if isinstance(found, str | bytes) else found
    return explained


# Conditions


def _of_search(asked: Search) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    texts = [{"text": each.text, "language": each.language, "fuzzyLevel": asked.fuzzy_level} for each in asked.texts]
    conditions: list[dict[str, Any]] = [{"condition": each, "index": WORDS_INDEX[asked.stage]} for each in texts]
    parts = list[Any](texts)
    for found in (*asked.query_filters, *asked.filters):
        parts.append(_tree(found.condition))
        conditions += _served(found.condition, asked.stage)
    return _joined(parts), conditions


def _joined(parts: list[Any]) -> dict[str, Any] | None:
    return None if not parts else parts[0] if len(parts) == 1 else {"and": parts}


def _served(condition: Condition, stage: Stage) -> Iterator[dict[str, Any]]:
    """Each comparison in a condition, with the index that serves it."""
    match condition:
        case AllOf(conditions) | AnyOf(conditions):
            for inner in conditions:
                yield from _served(inner, stage)
        case Holds() | HasElement():
            yield {"condition": _tree(condition), "index": _index_of(condition, stage)}
        case Contains():
            yield {"condition": _tree(condition), "index": DOCUMENT_INDEX[stage]}


def _index_of(condition: Holds | HasElement, stage: Stage) -> str | None:
    if not is_served_by_index(condition, stage):
        return None
    if isinstance(condition, HasElement) or condition.field.type in (FieldType.TEXTS, FieldType.NUMBERS):
        return DOCUMENT_INDEX[stage]
    return INDEX_OF_FIELD.get(condition.field.name)


def _tree(condition: Condition) -> dict[str, Any]:
    match condition:
        case AllOf(conditions):
            return {"and": [_tree(inner) for inner in conditions]}
        case AnyOf(conditions):
            return {"or": [_tree(inner) for inner in conditions]}
        case Contains(document):
            return {"contains": document}
        case HasElement():
            return {
                "field": condition.field.name,
                "hasElement": _tree(condition.condition),
                **({"negated": True} if condition.negated else {}),
            }
        case Holds():
            return {
                "field": condition.field.name,
                "operator": condition.operator.token,
                "values": [value if isinstance(value, str | int | float) else str(value) for value in condition.values],
                **({"negated": True} if condition.negated else {}),
            }
