"""The lane of a read: whether it may be slow, by what it asks and not by what it costs; and by the size of its page."""

from collections.abc import Callable
from typing import TypeVar, assert_never

from app.database.admission import Lane
from app.database.connection import Connection
from app.database.replica import ReadingDatabase
from app.query.fields import FieldType
from app.query.predicate.ast import AllOf, AnyOf, Condition, Contains, HasElement, Holds
from app.query.predicate.compiler import needs_equality
from app.query.predicate.operators import OPERATORS, ArraySearch
from app.resource.model import LargePage, Paging, Search

FAR_OFFSET = 1_000
"""A page behind more results than these may be slow, since they all have to be read."""

_RANGES = tuple(OPERATORS[token] for token in ("<", "<=", ">", ">="))


Result = TypeVar("Result")


def read_page(
    database: ReadingDatabase, project_key: str, lane: Lane, read: Callable[[Connection, bool], Result]
) -> Result:
    """Read a page. If it is large, it is read anew in the slow lane, so that a process has few of them at a time.

    :param lane: what the read asks.
    :param read: gets whether the page may be large; raises :class:`LargePage` if it is and may not.
    """
    if lane is Lane.FAST:
        try:
            return database.read(lambda connection: read(connection, False), project_key, lane)
        except LargePage:
            pass
    return database.read(lambda connection: read(connection, True), project_key, Lane.SLOW)


def lane_of_list(condition: Condition | None, paging: Paging | None = None) -> Lane:
    """The lane of a list or, without paging, of an existence check."""
    if paging is not None and paging.offset > FAR_OFFSET:
        return Lane.SLOW
    return Lane.FAST if condition is None or is_served_by_index(condition) else Lane.SLOW


def lane_of_search(search: Search) -> Lane:
    """The lane of a search."""
    if search.texts or search.facets or search.paging.offset > FAR_OFFSET:
        return Lane.SLOW
    conditions = [found.condition for found in (*search.query_filters, *search.filters)]
    return Lane.FAST if not conditions or is_served_by_index(AllOf(tuple(conditions))) else Lane.SLOW


def is_served_by_index(condition: Condition) -> bool:
    """Whether an index finds the resources that a condition holds for."""
    match condition:
        case AllOf(conditions):
            return any(map(is_served_by_index, conditions))
        case AnyOf(conditions):
            return all(map(is_served_by_index, conditions))
        case HasElement():
            return not condition.negated and needs_equality(condition.condition)
        case Contains():
            return True
        case Holds(field=field, operator=operator):
            if condition.negated:
                return False
            if field.type in (FieldType.TEXTS, FieldType.NUMBERS):
                return operator.array in (ArraySearch.CONTAINS_ANY, ArraySearch.CONTAINS_ALL)
            return field.sortable and (operator.equality or operator in _RANGES)
        case _:
            assert_never(condition)
