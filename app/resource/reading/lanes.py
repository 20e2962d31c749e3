"""The lane of a read: whether it may be slow, by what it asks and not by what it costs; and by the size of its page."""

from collections.abc import Callable
from enum import IntEnum
from typing import assert_never

from app.database.admission import Lane
from app.database.connection import Connection
from app.database.replica import ReadingDatabase
from app.query.fields import BEGINNING_LENGTH, Projection
from app.query.kinds import ID, TEXT
from app.query.predicate.ast import AllOf, AnyOf, Condition, Contains, HasElement, Holds
from app.query.predicate.compiler import conjuncts_of, is_comparable_by_index, needs_equality
from app.query.predicate.operators import OPERATORS, ArraySearch
from app.resource.model import Paging, Search
from app.resource.reading.listing import BY_ID, Page, Term, terms_of

FAR_OFFSET = 1_000
"""A page behind more results than these may be slow, since they all have to be read."""

_RANGES = tuple(OPERATORS[token] for token in ("<", "<=", ">", ">="))


def read_page(database: ReadingDatabase, project_key: str, lane: Lane, compose: Callable[[Connection], Page]) -> bytes:
    """Read a page. If it is large, it is read in the slow lane, so that a process has few of them at a time.

    :param compose: makes the page; it may send statements.
    """

    def read(connection: Connection) -> tuple[Page, bytes | None]:
        page = compose(connection)
        return page, page.read(connection)

    page, found = database.read(read, project_key, lane)
    return database.read(page.read_large, project_key, Lane.SLOW) if found is None else found


def lane_of_list(condition: Condition | None, paging: Paging | None = None) -> Lane:
    """The lane of a list or, without paging, of an existence check."""
    if paging is not None and not _is_page_served(paging, Projection.CURRENT):
        return Lane.SLOW
    return Lane.FAST if condition is None or is_served_by_index(condition, Projection.CURRENT) else Lane.SLOW


def lane_of_search(search: Search) -> Lane:
    """The lane of a search."""
    if search.texts or search.facets or not _is_page_served(search.paging, search.projection):
        return Lane.SLOW
    conditions = [found.condition for found in (*search.query_filters, *search.filters)]
    return Lane.FAST if not conditions or is_served_by_index(AllOf(tuple(conditions)), search.projection) else Lane.SLOW


def _is_page_served(paging: Paging, projection: Projection) -> bool:
    """Whether an index has the order, and few results stand before the page."""
    first, *rest = terms_of(paging.sort, projection)
    return paging.offset <= FAR_OFFSET and first.indexed and rest in ([], [Term(BY_ID.expression, first.descending)])


# Which condition an index serves


class _Served(IntEnum):
    """What an index does for a condition."""

    NOT = 0
    RANGE = 1
    """What matches is one stretch of the index, possibly most of a project. Alone that is cheap, since the read stops
    at its limit. Beside another condition the whole stretch may be read in vain."""
    VALUES = 2
    """It finds the resources that have given values."""


def is_served_by_index(condition: Condition, projection: Projection) -> bool:
    """Whether an index finds the resources that a condition holds for, in a projection."""
    return _served(condition, projection) is not _Served.NOT


def _served(condition: Condition, projection: Projection) -> _Served:
    match condition:
        case AllOf() | AnyOf(conditions=(_,)):
            terms = conjuncts_of(condition)
            served = [_served(term, projection) for term in terms]
            if _Served.VALUES in served or len(terms) == 1:
                return max(served)
            of_one_field = len({term.field if isinstance(term, Holds) else term for term in terms}) == 1
            return min(served, default=_Served.NOT) if of_one_field else _Served.NOT
        case AnyOf(conditions):
            served = [_served(inner, projection) for inner in conditions]
            return _Served.NOT if _Served.RANGE in served else min(served)
        case HasElement():
            is_found = not condition.negated and needs_equality(condition.condition)
            return _Served.VALUES if is_found else _Served.NOT
        case Contains():
            return _Served.VALUES
        case Holds():
            return _Served.NOT if condition.negated else _served_of_field(condition, projection)
        case _:
            assert_never(condition)


def _served_of_field(holds: Holds, projection: Projection) -> _Served:
    field, operator = holds.field, holds.operator
    if field.is_array:
        finds = operator.array in (ArraySearch.CONTAINS_ANY, ArraySearch.CONTAINS_ALL)
        return _Served.VALUES if finds else _Served.NOT
    if not field.sortable or not is_comparable_by_index(holds, projection):
        return _Served.NOT
    if field.beginning is not None and any(len(str(value)) >= BEGINNING_LENGTH for value in holds.values):
        return _Served.NOT  # many may have the same beginning
    if operator.equality and field.kind in (ID, TEXT):
        return _Served.VALUES
    # Many resources may have the same version or time. For a list of them the planner may take another index.
    is_one = operator.equality and len(holds.values) == 1
    return _Served.RANGE if is_one or operator in _RANGES else _Served.NOT
