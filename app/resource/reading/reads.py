"""Reads of resources: one resource by its id or key, a page of resources, and the existence check."""

from typing import LiteralString

from app.database.connection import Connection
from app.query.fields import Projection
from app.query.predicate.compiler import compile_condition
from app.query.predicate.conditions import Condition
from app.resource.model import Paging, Representation, is_id, is_key
from app.resource.reading import listing
from app.resource.reading.listing import Page, Selected
from app.resource.resource_json import COLUMNS, RESULT_JSON, representation_of_row

# Reads of one resource

_GET_BY_ID: LiteralString = f"""
    SELECT {COLUMNS}
    FROM resource r WHERE r.project_key = %(project_key)s AND r.id = %(id)s::uuid"""

_GET_BY_KEY: LiteralString = f"""
    SELECT {COLUMNS}
    FROM resource r WHERE r.project_key = %(project_key)s AND r.key = %(key)s"""


def get_by_id(connection: Connection, project_key: str, resource_id: str) -> Representation | None:
    """Read a resource by its id; None if there is none, or if the text is no UUID with hyphens."""
    if not is_id(resource_id):
        return None
    row = connection.execute(_GET_BY_ID, {"project_key": project_key, "id": resource_id}).fetchone()
    return None if row is None else representation_of_row(row)


def get_by_key(connection: Connection, project_key: str, key: str) -> Representation | None:
    """Read a resource by its key; None if there is none, or if the text is no valid key."""
    if not is_key(key):
        return None
    row = connection.execute(_GET_BY_KEY, {"project_key": project_key, "key": key}).fetchone()
    return None if row is None else representation_of_row(row)


# Reads of many resources

_EXISTS: LiteralString = "SELECT EXISTS (SELECT FROM resource r WHERE r.project_key = %(project_key)s)"

_EXISTS_SELECTED: LiteralString = """
    WITH found AS MATERIALIZED (SELECT FROM resource r WHERE {})
    SELECT EXISTS (SELECT FROM found)"""
"""The braces take :attr:`Selected.where_of_existence`.

Without MATERIALIZED, PostgreSQL would plan for the first row only. Such a plan may scan the whole project in the hope
of an early match, instead of using an index. With MATERIALIZED, the execution still stops at the first match, but a
bitmap scan makes its whole bitmap before it. For a stretch (see :mod:`app.resource.reading.listing`) the bitmap may be
large. So the condition of a stretch ends with ORDER BY and LIMIT 1, and PostgreSQL reads one row of the index."""


def exists(connection: Connection, project_key: str, selected: Selected) -> bool:
    """Return whether at least one resource of the project fulfils all conditions of ``selected``."""
    parameters = {"project_key": project_key, **selected.parameters}
    statement = _EXISTS_SELECTED.format(selected.where_of_existence) if selected.clauses else _EXISTS
    row = connection.execute(statement, parameters).fetchone()
    return row is not None and row[0]


def page(
    project_key: str, condition: Condition | None, paging: Paging, result: LiteralString = RESULT_JSON[frozenset()]
) -> Page:
    """Compose a page of the resources whose current projection fulfils a condition; nothing is read yet.

    :param condition: None for all resources.
    :param result: SQL that makes the JSON of each result; by default a resource without expanded references.
    """
    order = listing.terms_of(paging.sort, Projection.CURRENT)
    return Page(selected_by(condition), {"project_key": project_key}, paging, order, result)


def selected_by(condition: Condition | None) -> Selected:
    """The selection of the resources whose current projection fulfils a condition; of all resources if it is None."""
    return Selected() if condition is None else Selected([compile_condition(condition, Projection.CURRENT)])
